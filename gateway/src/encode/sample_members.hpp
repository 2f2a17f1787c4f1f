#pragma once

#include <array>
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
