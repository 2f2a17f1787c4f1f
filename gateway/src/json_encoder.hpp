#pragma once

#include "core/channel_table.hpp"
#include "core/telemetry_sample.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace telegate {

/// Turns samples into the `json` payload of docs/wire.md: one object, keys in a fixed order, no spaces.
///
/// What is constant per channel is rendered once, at its first sample; after that encoding allocates nothing.
///
/// Threads: one, the io thread.
/// Limits:  one prefix and suffix per channel, so at most ChannelTable::channels_max of them.
/// Failure: the first sample of a channel may throw std::bad_alloc. Text that is not UTF-8 has its bad bytes replaced
/// by
///          U+FFFD; a value that JSON cannot hold becomes null.
class JsonEncoder {
  public:
    /// `epoch_ms`: the gateway's start, ms since 1970 UTC.
    JsonEncoder(const ChannelTable& channels, std::int64_t epoch_ms);

    /// An upper bound for encode()'s result.
    [[nodiscard]] std::size_t bytes_max(const TelemetrySample& sample);
    /// Writes the object to `out`, which has room for bytes_max(sample), and returns its length.
    std::size_t encode(const TelemetrySample& sample, char* out);

  private:
    struct Frame {
        std::string before;  // up to and with `"seq":`
        std::string after;   // from `,"unit":` up to and with `"quality":"`
    };

    const Frame& frame_of(ChannelId channel);
    char* write_time(char* out, std::int64_t utc_ns);

    const ChannelTable& channels_;
    const std::string epoch_;
    std::vector<Frame> frames_;           // by channel
    std::int64_t second_ = INT64_MIN;     // the second that second_text_ shows
    std::array<char, 20> second_text_{};  // "2026-11-20T23:11:34."
};

}  // namespace telegate
