#pragma once

#include "core/ledger.hpp"
#include "core/telemetry_sample.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace telegate {

/// Samples `first_seq` to `last_seq` of a channel are missing.
struct SampleGap {
    ChannelId channel;
    std::uint64_t first_seq;
    std::uint64_t last_seq;
    DropReason reason;

    [[nodiscard]] std::uint64_t samples() const noexcept { return last_seq - first_seq + 1; }
};

/// What a consumer has been given since it was made.
struct ConsumerLedger {
    std::uint64_t taken = 0;    // samples
    std::uint64_t missing = 0;  // samples that gaps have named
};

/// Receives everything that the pump publishes. For each channel, samples and gaps together are every sequence number
/// from 1 on, once and in order: a gap comes before the sample after it.
///
/// A consumer that is slow, or that works on another thread, copies what it needs, or reads the history through a
/// SampleCursor.
///
/// Threads: the pump's.
/// Limits:  it must not block, and must not take longer than encoding the samples does.
/// Failure: take() and gap() may throw std::bad_alloc for a channel that they have not seen before; the samples of that
///          call are then in ledger().taken and are not delivered.
class SampleConsumer {
  public:
    SampleConsumer() = default;
    virtual ~SampleConsumer() = default;
    SampleConsumer(const SampleConsumer&) = delete;
    SampleConsumer& operator=(const SampleConsumer&) = delete;

    /// A short name for status and logs.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    /// Takes 1 to Pump::batch_samples samples.
    virtual void take(std::span<const TelemetrySample> samples) = 0;
    virtual void gap(const SampleGap& gap) = 0;
    /// Whether the consumer needs samples as soon as they are captured. While no consumer does, the pump wakes up
    /// rarely.
    [[nodiscard]] virtual bool is_wanted() const noexcept { return false; }
    /// Whether samples must stay in the queue for now. A consumer that returns true wakes the pump when it has capacity
    /// again.
    [[nodiscard]] virtual bool must_wait() { return false; }
    /// Ends a turn of the pump: what was taken is passed on.
    virtual void flush() {}
    [[nodiscard]] virtual ConsumerLedger ledger() const = 0;
};

}  // namespace telegate
