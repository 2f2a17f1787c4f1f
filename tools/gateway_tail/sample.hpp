#pragma once

#include "core/telemetry_sample.hpp"
#include "reason.hpp"

#include <cstdint>
#include <string_view>

namespace telegate::tail {

/// A value as it came; what its type does not name is unset.
struct Value {
    ValueType type = ValueType::none;
    union {
        std::int64_t integer = 0;
        double real;
        bool boolean;
    };
    std::string_view text;
};

/// One sample of docs/wire.md. What its texts show lasts during the call that it is given to.
struct Sample {
    std::string_view topic;
    std::int64_t epoch = 0;
    std::uint64_t seq = 0;
    std::int64_t time_utc_ns = 0;
    Value value;
    std::string_view unit;  // "" in records
    Quality quality = Quality::good;
    bool replayed = false;          // it was missed, and came by a replay
    std::uint32_t topic_index = 0;  // of the splice: topics in order of appearance, from 0
};

/// Seqs of one topic that do not come, or are asked for; the notices `$gap` and the entries of `gone`.
struct Gap {
    std::string_view topic;
    std::int64_t epoch = 0;
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;
    Reason reason = Reason::other;
    std::uint32_t topic_index = 0;
};

/// The notice `$beat`: `seq` is the last one that was published or told in a gap; 0: there was none yet.
struct Beat {
    std::string_view topic;
    std::int64_t epoch = 0;
    std::uint64_t seq = 0;
};

/// Greater seqs are not believed, so that arithmetic with them is safe.
inline constexpr std::uint64_t seq_max = std::uint64_t{1} << 62;

}  // namespace telegate::tail
