#pragma once

#include "core/ledger.hpp"
#include "core/telemetry_sample.hpp"

#include <cstdint>
#include <span>

namespace telegate {

/// Gets everything that the pump publishes, and hears of what is missing in it, in the order in which subscribers do.
///
/// Threads: the pump's.
/// Limits:  it must not wait, and take no longer than a copy takes.
/// Failure: none that the pump hears of.
class SampleTap {
  public:
    virtual ~SampleTap() = default;
    virtual void take(std::span<const TelemetrySample> samples) noexcept = 0;
    virtual void take_gap(ChannelId channel, std::uint64_t first_seq, std::uint64_t last_seq,
                          DropReason reason) noexcept = 0;
};

}  // namespace telegate
