#pragma once

#include "service_messages.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace telegate::tail {

/// What the texts of a sample show into.
struct SampleTexts {
    std::string value;
    std::string unit;
};

/// How an object is written.
enum class ObjectCoding : std::uint8_t { json, cbor };

/// A sample in any order of keys; the topic is the frame's. Slow: for what scan_sample() does not take.
/// Limits: payload_bytes_max.
[[nodiscard]] bool parse_any_sample(ObjectCoding coding, std::string_view payload, Sample& sample, SampleTexts& texts);

/// What follows the topic in `<topic>$gap` or `<topic>$beat`; without the topic.
[[nodiscard]] bool parse_any_gap(ObjectCoding coding, std::string_view payload, Gap& gap);
[[nodiscard]] bool parse_any_beat(ObjectCoding coding, std::string_view payload, Beat& beat);

/// Nullopt, when it is none; `what` says why.
[[nodiscard]] bool parse_answer(std::string_view frame, Answer& answer, std::string& what);

/// A sample is much smaller; decoders may use stack for each byte.
inline constexpr std::size_t payload_bytes_max = 4096;

}  // namespace telegate::tail
