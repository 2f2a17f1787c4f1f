#pragma once

#include "core/channel_table.hpp"
#include "core/telemetry_sample.hpp"

#include <any>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::uplink {

/// The properties of a gateway that its encoders need.
struct EncoderOptions {
    const std::any& type_options;  // see UplinkTypePlan
    std::string gateway;           // its name
    std::int64_t epoch_ms = 0;     // when it was started, ms since 1970 UTC
};

/// Names and values that describe a channel, such as its site. Names are unique.
using EntryTags = std::vector<std::pair<std::string, std::string>>;

/// Encodes samples and gap notices as the entries of messages, for a type of back end with a format of its own. An
/// encoder has the channels of one epoch. It divides nothing and counts nothing: the caller makes messages of entries.
///
/// Threads: one.
/// Limits:  memory for what is prepared per channel.
/// Failure: add_channel() and append_gap() throw std::bad_alloc.
class EntryEncoder {
  public:
    /// Samples of a channel that are missing. It has the time of the next sample in the log.
    struct Gap {
        ChannelId channel;
        std::uint64_t first_seq;
        std::uint64_t last_seq;
        std::string_view reason;
        std::int64_t time_utc_ns;
    };

    EntryEncoder() = default;
    EntryEncoder(const EntryEncoder&) = delete;
    EntryEncoder& operator=(const EntryEncoder&) = delete;
    virtual ~EntryEncoder() = default;

    /// Adds a channel. Their ids count from 0.
    virtual void add_channel(const ChannelInfo& info, const EntryTags& tags) = 0;
    /// Returns at least the size of the sample's entry; 0: the back end cannot have it, or the settings omit it.
    [[nodiscard]] virtual std::size_t bytes_max(const TelemetrySample& sample) const noexcept = 0;
    /// Writes the entry of a sample that is not omitted, and returns its size.
    [[nodiscard]] virtual std::size_t encode(const TelemetrySample& sample, char* to) noexcept = 0;
    /// Appends the entry of a gap; nothing if the settings omit gaps.
    virtual void append_gap(const Gap& gap, std::string& to) = 0;
};

}  // namespace telegate::uplink
