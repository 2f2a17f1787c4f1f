#include "gateway/encode/encoder_harness.hpp"
#include "rest/rest_openapi.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

namespace {

/// A description of samples: a JSON Schema in a document.
struct Description {
    json document;
    json::json_pointer place;

    [[nodiscard]] const json& schema() const { return document.at(place); }
};

Description openapi_description() {
    return {json::parse(openapi_json(HttpRole::admin)), json::json_pointer("/components/schemas/Sample")};
}

Description services_description() {
    return {json::parse(std::ifstream(TELEGATE_SOURCE_DIR "/docs/services.schema.json")),
            json::json_pointer("/$defs/sample")};
}

bool has_type(const json& value, const std::string& type) {
    return type == "object"    ? value.is_object()
           : type == "string"  ? value.is_string()
           : type == "boolean" ? value.is_boolean()
           : type == "integer" ? value.is_number_integer()
           : type == "number"  ? value.is_number()
                               : type == "null" && value.is_null();
}

bool matches(const json& document, const json& schema, const json& value);

/// Also requires that `properties` lists all members.
bool matches_rule(const json& document, const std::string& keyword, const json& rule, const json& value) {
    if (keyword == "$ref") {
        return matches(document, document.at(json::json_pointer(rule.get<std::string>().substr(1))), value);
    }
    if (keyword == "type") {
        const json types = rule.is_array() ? rule : json::array({rule});
        return std::any_of(types.begin(), types.end(), [&](const json& type) { return has_type(value, type); });
    }
    if (keyword == "enum") {
        return std::find(rule.begin(), rule.end(), value) != rule.end();
    }
    if (keyword == "minimum") {
        return value >= rule;
    }
    if (keyword == "pattern") {
        return !value.is_string() || std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>()));
    }
    if (keyword == "required") {
        return std::all_of(rule.begin(), rule.end(),
                           [&](const json& name) { return value.contains(name.get<std::string>()); });
    }
    REQUIRE((keyword == "properties" || keyword == "additionalProperties"));
    const auto& members = value.items();
    return std::all_of(members.begin(), members.end(), [&](const auto& member) {
        const json& schema = keyword == "properties" ? rule.value(member.key(), json()) : rule;
        return schema.is_object() && matches(document, schema, member.value());
    });
}

bool matches(const json& document, const json& schema, const json& value) {
    const auto& rules = schema.items();
    return std::all_of(rules.begin(), rules.end(),
                       [&](const auto& rule) { return matches_rule(document, rule.key(), rule.value(), value); });
}

bool matches(const Description& description, const json& value) {
    return matches(description.document, description.schema(), value);
}

/// Returns samples with every type of value, quality and time.
std::vector<json> encoded_samples() {
    EncoderHarness<JsonEncoder> h;
    JsonEncoder with_tags(h.channels, epoch_ms, std::make_shared<const Labels>("", Tags{{"site", "north"}}));
    std::vector<json> samples;
    for (TelemetrySample sample :
         {h.sample(), h.real(12.5), h.real(std::numeric_limits<double>::quiet_NaN()), h.integer(INT64_MIN),
          h.integer(INT64_MAX), h.boolean(true), h.text(""), h.text("a \"text\"")}) {
        for (const Quality quality : {Quality::good, Quality::uncertain, Quality::bad, Quality::stale}) {
            for (const std::uint8_t flags : {std::uint8_t{0}, sample_flag::time_unsynchronized}) {
                sample.quality = quality;
                sample.flags = flags;
                samples.push_back(json::parse(h.encode(sample)));
                samples.push_back(json::parse(encoded(with_tags, sample)));
            }
        }
    }
    return samples;
}

std::set<std::string> names_of(const json& members) {
    std::set<std::string> names;
    for (const auto& member : members.items()) {
        names.insert(member.key());
    }
    return names;
}

}  // namespace

TEST_CASE("encoded samples match their schemas, which describe all members", "[gateway][rest][json]") {
    const Description description = GENERATE(openapi_description(), services_description());
    for (const json& sample : encoded_samples()) {
        CAPTURE(sample);
        CHECK(matches(description, sample));
    }
}

TEST_CASE("the schema of a sample refuses other objects", "[gateway][rest][json]") {
    const Description description = GENERATE(openapi_description(), services_description());
    const json sample = encoded_samples().back();
    for (const auto& [name, value] : sample.items()) {
        CAPTURE(name);
        json other = sample;
        other[name] = json::array();
        CHECK_FALSE(matches(description, other));
        other.erase(name);
        CHECK(matches(description, other) == (name == "tags" || name == "time_quality" || name == "mono_ns"));
    }
    json more = sample;
    more["more"] = 1;
    CHECK_FALSE(matches(description, more));
}

TEST_CASE("REST and services describe the same members of a sample", "[gateway][rest][json]") {
    const json openapi = openapi_description().schema();
    const json services = services_description().schema();
    CHECK(names_of(openapi["properties"]) == names_of(services["properties"]));
    CHECK(openapi["required"] == services["required"]);
}
