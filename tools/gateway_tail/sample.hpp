#pragma once

#include "core/telemetry_sample.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telegate::tail {

/// The reason why samples are lost.
enum class Reason : std::uint8_t {
    // lost before publication, reported by a gap notice
    queue_overflow,
    shutdown,
    // lost for this subscriber, reported by a gap notice; used if they cannot be recovered either
    slow,
    expired,
    // reported in the reply to a replay request
    not_retained,
    dropped,
    // reported in the reply to a replay request, from the durable log of the gateway
    log_slow,
    log_full,
    crash,
    damaged,
    retention,
    // determined by this program
    no_answer,      // the services were unreachable or did not reply
    not_asked,      // --no-recover was given
    unknown_epoch,  // the gateway has no information about that epoch
    ended,          // this program ended before the samples were recovered
    other,          // a reason that this program does not know
};

inline constexpr std::size_t reasons = static_cast<std::size_t>(Reason::other) + 1;

[[nodiscard]] std::string_view to_string(Reason reason) noexcept;
/// Returns Reason::other for an unknown word.
[[nodiscard]] Reason parse_reason(std::string_view text) noexcept;

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
    std::uint32_t topic_index = 0;  // index in the merger: topics are numbered in order of appearance, from 0
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
