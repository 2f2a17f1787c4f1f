#pragma once

#include "core/telemetry_sample.hpp"

#include <cstdint>

namespace telegate {

/// Consecutive samples of one channel: those in a message, or those that a gap notice reports as missing.
struct SampleRange {
    ChannelId channel{};
    std::uint64_t first_seq = 0;  // 0: none
    std::uint64_t last_seq = 0;
};

/// The samples of one message in a segment of the publisher's log.
struct LoggedSamples {
    std::uint64_t first_seq;
    std::uint64_t last_seq;
    ChannelId channel;
    std::uint32_t offset;  // of the message, in bytes

    [[nodiscard]] SampleRange range() const noexcept { return {channel, first_seq, last_seq}; }
};

}  // namespace telegate
