#pragma once

#include "core/telemetry_sample.hpp"

#include <array>
#include <cmath>
#include <string_view>

/// The members of a sample in the formats `json` and `cbor`, see docs/wire.md. The encoders take the names from here,
/// and REST the schema.
namespace telegate::sample_member {

struct Member {
    std::string_view name;
    std::string_view schema;  // JSON Schema
    bool is_required = true;
};

inline constexpr Member device{"device", R"({"type":"string"})"};
inline constexpr Member channel{"channel", R"({"type":"string"})"};
inline constexpr Member epoch{"epoch", R"({"$ref":"#/components/schemas/Count"})"};
inline constexpr Member seq{"seq", R"({"type":"integer","minimum":1})"};
inline constexpr Member time{"time", R"({"type":"string"})"};
inline constexpr Member value{"value", R"({"type":["number","string","boolean","null"]})"};
inline constexpr Member unit{"unit", R"({"type":"string"})"};
inline constexpr Member tags{"tags", R"({"$ref":"#/components/schemas/Tags"})", false};
inline constexpr Member quality{"quality", R"({"$ref":"#/components/schemas/Quality"})"};
inline constexpr Member time_quality{"time_quality", R"({"enum":["unsynchronized"]})", false};
inline constexpr Member mono_ns{"mono_ns", R"({"type":"integer"})", false};

/// In the order of the payload.
inline constexpr std::array all{device, channel, epoch, seq, time, value, unit, tags, quality, time_quality, mono_ns};

}  // namespace telegate::sample_member

namespace telegate {

/// Returns whether the value is NaN or infinite; payloads of every format omit such a value.
[[nodiscard]] inline bool is_nan_or_infinite(const TelemetrySample& sample) noexcept {
    return sample.type == ValueType::real && !std::isfinite(sample.value.real);
}

/// Returns the quality in the payload: bad for NaN and infinities.
[[nodiscard]] inline Quality quality_of(const TelemetrySample& sample) noexcept {
    return is_nan_or_infinite(sample) ? Quality::bad : sample.quality;
}

/// Returns whether the payload marks the time as unsynchronized and adds the monotonic time.
[[nodiscard]] inline bool has_doubtful_time(const TelemetrySample& sample) noexcept {
    return (sample.flags & sample_flag::time_unsynchronized) != 0;
}

}  // namespace telegate
