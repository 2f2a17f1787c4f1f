#pragma once

#include "core/telemetry_sample.hpp"
#include "reason.hpp"

#include <cstdint>
#include <string_view>

namespace telegate::tail {

/// A sample value. Only the member that matches its type is set.
struct Value {
    ValueType type = ValueType::none;
    union {
        std::int64_t integer = 0;
        double real;
        bool boolean;
    };
    std::string_view text;
};

/// One sample as in docs/wire.md. Its texts are valid during the call that it is passed to.
struct Sample {
    std::string_view topic;
    std::int64_t epoch = 0;
    std::uint64_t seq = 0;
    std::int64_t time_utc_ns = 0;
    Value value;
    std::string_view unit;  // empty in the record format
    Quality quality = Quality::good;
    bool replayed = false;          // whether the sample was missed and then recovered by a replay
    std::uint32_t topic_index = 0;  // index in the splice: topics are numbered in order of appearance, from 0
};

/// A range of seqs of one topic that are lost or requested: a gap notice, or an entry of `gone`.
struct Gap {
    std::string_view topic;
    std::int64_t epoch = 0;
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;
    Reason reason = Reason::other;
    std::uint32_t topic_index = 0;
};

/// A heartbeat notice. `seq` is the last seq that was published or reported in a gap, or 0 if there was none yet.
struct Beat {
    std::string_view topic;
    std::int64_t epoch = 0;
    std::uint64_t seq = 0;
};

/// Larger seqs are rejected, so that arithmetic with them cannot overflow.
inline constexpr std::uint64_t seq_max = std::uint64_t{1} << 62;

}  // namespace telegate::tail
