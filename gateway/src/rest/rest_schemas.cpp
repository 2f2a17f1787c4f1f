#include "rest/rest_openapi.hpp"

namespace telegate {
namespace {

constexpr std::string_view schemas = R"json({
"Count": {"type": "integer", "minimum": 0},
"Tags": {"type": "object", "additionalProperties": {"type": "string"}},
"ChannelSamplesOrIntervals": {
  "oneOf": [{"$ref": "#/components/schemas/ChannelSamples"}, {"$ref": "#/components/schemas/ChannelIntervals"}]
},
"LogLevelChange": {
  "type": "object",
  "required": ["level"],
  "additionalProperties": false,
  "properties": {
    "level": {"$ref": "#/components/schemas/Level"}, "revert_after": {"$ref": "#/components/schemas/RevertAfter"}
  }
},
"UplinkRewind": {
  "type": "object",
  "oneOf": [{"required": ["position"]}, {"required": ["time"]}],
  "additionalProperties": false,
  "properties": {
    "position": {"$ref": "#/components/schemas/Count"}, "time": {"type": "string", "format": "date-time"}
  }
},
"Origins": {"type": "object"},
"SettingsPatch": {"type": "object"},
"OpenApi": {"type": "object"}
})json";

}  // namespace

std::string_view rest_schemas() noexcept {
    return schemas;
}

}  // namespace telegate
