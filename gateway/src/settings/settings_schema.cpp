#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"
#include "settings/settings_json.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

/// Escapes characters for use between [ and ].
std::string as_class(std::string_view characters) {
    std::string text;
    for (const char c : characters) {
        text += std::string_view("\\]^-").find(c) == std::string_view::npos ? "" : "\\";
        text += c;
    }
    return "[" + text + "]";
}

Json text_schema(const TextRule& rule) {
    // A text fits on a line of a file: no control characters, no surrounding spaces, no backslash at the end.
    const std::string inner = R"([^\u0000-\u001f\u007f])";
    const std::string last = R"([^\u0000-\u0020\u007f\\])";
    std::string begin;
    for (const std::string_view prefix : rule.prefixes) {
        begin += (begin.empty() ? "(" : "|") + std::string(prefix);
    }
    begin += begin.empty() ? R"((?! ))" : ")";
    const std::string pattern =
        rule.characters.empty() ? "^" + begin + inner + "*" + last + "$" : "^" + as_class(rule.characters) + "+$";
    Json schema{{"type", "string"}, {"pattern", rule.may_be_empty ? "^$|" + pattern : pattern}};
    if (rule.bytes_max > 0) {
        schema["maxLength"] = rule.bytes_max;
    }
    return schema;
}

Json text_list_schema(const TextListRule& rule) {
    // The pattern of a text without commas.
    const std::string any = R"(^(?! )[^\u0000-\u001f\u007f,]*[^\u0000-\u0020\u007f\\,]$)";
    Json item{{"type", "string"}, {"pattern", rule.characters.empty() ? any : "^" + as_class(rule.characters) + "+$"}};
    if (rule.bytes_max > 0) {
        item["maxLength"] = rule.bytes_max;
    }
    return {{"type", "array"},
            {"items", std::move(item)},
            {"minItems", rule.may_be_empty ? 0 : 1},
            {"maxItems", rule.count_max},
            {"uniqueItems", !rule.may_repeat}};
}

Json rule_schema(const SettingRule& rule) {
    struct Cases {
        // An initializer list with one pair of texts would become a text.
        Json operator()(const BooleanRule&) const { return Json::object({{"type", Json("boolean")}}); }
        Json operator()(const WholeRule& whole) const {
            const bool may_be_zero = whole.zero_is_default || !whole.zero_word.empty();
            Json schema = {{"type", "integer"}, {"minimum", may_be_zero ? 0 : whole.min}, {"maximum", whole.max}};
            if (!whole.zero_word.empty()) {
                schema["type"] = Json::array({"integer", "string"});
                schema["pattern"] = '^' + std::string(whole.zero_word) + '$';
            }
            return schema;
        }
        Json operator()(const RealRule& real) const {
            return {{"type", "number"}, {"minimum", real.min}, {"maximum", real.max}};
        }
        Json operator()(const ChoiceRule& choice) const { return {{"enum", choice.choices}}; }
        Json operator()(const ListRule& list) const {
            return {{"type", "array"}, {"items", {{"enum", list.choices}}}, {"minItems", 1}, {"uniqueItems", true}};
        }
        Json operator()(const WholeListRule& list) const {
            return {{"type", "array"},
                    {"items", {{"type", "integer"}, {"minimum", list.min}, {"maximum", list.max}}},
                    {"uniqueItems", true}};
        }
        Json operator()(const TextRule& text) const { return text_schema(text); }
        Json operator()(const TextListRule& list) const { return text_list_schema(list); }
        Json operator()(const ListenRule&) const {
            return {{"type", "string"},
                    {"pattern", R"(^$|^(localhost|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+|\[[0-9A-Fa-f:.]+\]):[0-9]+$)"}};
        }
    };
    return std::visit(Cases(), rule);
}

Json setting_schema(const SettingRow& row, const Json& defaults) {
    Json schema = rule_schema(row.rule);
    if (row.slot.is_optional) {
        schema["type"] = Json::array({schema["type"], "null"});
    }
    schema["description"] =
        std::string(row.meaning) + (row.unit.empty() ? "" : " Unit: " + std::string(row.unit) + ".");
    const std::string key(row.key);
    if (!row.required && defaults.contains(key)) {
        schema["default"] = defaults[key];
    }
    schema["x-applies"] = std::string(to_string(row.applies));
    return schema;
}

/// Returns the schema of a section with the keys of one type, or of all types for "". `defaults` are the values of
/// unset keys.
Json section_schema(const SectionRow& section, std::string_view type, const Json& defaults) {
    Json schema{{"type", "object"}, {"description", std::string(section.meaning)}, {"additionalProperties", false}};
    Json properties = Json::object();
    for (const SettingRow& row : settings_table()) {
        if (!belongs(row, section.name, type.empty() ? row.type : type)) {
            continue;
        }
        const std::string key(row.key);
        properties[key] = setting_schema(row, defaults);
        const bool is_type = row.key == section.type_key;
        if (is_type) {
            properties[key]["enum"] = Json::array({std::string(type)});
        }
        if (row.required || (is_type && type != default_text(row))) {
            schema["required"].push_back(key);
        }
        if (!row.excludes.empty()) {
            schema["dependentSchemas"][key]["properties"][std::string(row.excludes)] = false;
        }
    }
    schema["properties"] = std::move(properties);
    return schema;
}

/// Returns the name of the instance of this type in default_document().
std::string instance_name(const SectionRow& section, std::string_view type) {
    return section.of_channel() ? std::string(types_of("device").front()) + "/any" : std::string(type);
}

/// A section names its type, which determines its keys. A channel does not, so it may have the keys of all drivers.
Json instance_schema(const SectionRow& section, const Json& defaults) {
    if (section.type_key.empty()) {
        return section_schema(section, "", defaults.value(instance_name(section, "any"), Json::object()));
    }
    Json types = Json::array();
    for (const std::string_view type : types_of(section.name)) {
        types.push_back(section_schema(section, type, defaults.value(instance_name(section, type), Json::object())));
        types.back()["title"] = std::string(type);  // a name for generated code
    }
    return Json::object({{"oneOf", std::move(types)}});
}

Json instances_schema(const SectionRow& section, const Json& defaults) {
    return {{"type", "object"},
            {"description", std::string(section.meaning)},
            {"maxProperties", section.count_max},
            {"propertyNames", {{"pattern", name_pattern(section)}}},
            {"additionalProperties", instance_schema(section, defaults)}};
}

/// Returns a document with an instance of each kind of named section, for each type.
Json default_document() {
    Settings settings;
    for (const SectionRow& section : section_table()) {
        if (section.type_key.empty()) {
            (void)add_instance(settings, section.name, instance_name(section, "any"));
            continue;
        }
        for (const std::string_view type : types_of(section.name)) {
            const SettingOwner owner = add_instance(settings, section.name, instance_name(section, type));
            (void)assign(*find_setting(section.name, section.type_key), owner, type);
        }
    }
    return settings_document(settings);
}

}  // namespace

Json settings_schema() {
    const Json defaults = default_document();
    Json schema{{"type", "object"}, {"additionalProperties", false}};
    for (const SectionRow& section : section_table()) {
        const std::string name(section.name);
        const Json of_section = defaults.value(name, Json::object());
        schema["properties"][name] =
            section.named() ? instances_schema(section, of_section) : section_schema(section, "", of_section);
    }
    return schema;
}

std::string settings_schema_json() {
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Telegate settings"}};
    schema.update(settings_schema());
    return schema.dump(2) + '\n';
}

}  // namespace telegate
