#pragma once

#include "config/payload_format.hpp"
#include "service_messages.hpp"

#include <string>
#include <string_view>

namespace telegate::tail {

/// Owns the texts that a sample points to.
struct SampleTexts {
    std::string value;
    std::string unit;
};

/// Parses a sample in the json or cbor format, with keys in any order; the topic is that of the frame. Slow: used for
/// samples that scan_sample() cannot read. Limits: payload_bytes_max.
[[nodiscard]] bool parse_any_sample(PayloadFormat format, std::string_view payload, Sample& sample, SampleTexts& texts);

/// Parses a reply from the services. On failure, returns false and sets `what` to the reason.
[[nodiscard]] bool parse_answer(std::string_view frame, Answer& answer, std::string& what);

/// Samples are much smaller; decoders may use stack space for each byte.
inline constexpr std::size_t payload_bytes_max = 4096;

/// The decoder recurses for each nested array, so a payload of nested arrays would overflow a small stack.
inline constexpr int cbor_depth_max = 16;  // messages consist of one map without nested arrays

/// Returns whether the payload is CBOR that nests no deeper than cbor_depth_max. Threads: any.
[[nodiscard]] bool is_shallow_cbor(std::string_view payload);

}  // namespace telegate::tail
