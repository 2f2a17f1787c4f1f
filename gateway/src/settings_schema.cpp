#include "config/settings_table.hpp"
#include "settings_json.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <utility>
#include <variant>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* any_name = "any";

template <class Names>
Json names_json(const Names& names) {
    Json json = Json::array();
    for (const std::string_view name : names) {
        json.push_back(std::string(name));
    }
    return json;
}

Json text_schema(const TextRule& rule) {
    // Text fits a line of a file: no control bytes, no blanks at its ends, no backslash at the last one.
    const std::string inner = R"([^\u0000-\u001f\u007f])";
    const std::string last = R"([^\u0000-\u0020\u007f\\])";
    std::string begin;
    for (const std::string_view prefix : rule.prefixes) {
        begin += (begin.empty() ? "(" : "|") + std::string(prefix);
    }
    begin += begin.empty() ? R"((?! ))" : ")";
    const std::string pattern = "^" + begin + inner + "*" + last + "$";
    return {{"type", "string"}, {"pattern", rule.may_be_empty ? "^$|" + pattern : pattern}};
}

Json rule_schema(const SettingRule& rule) {
    struct Cases {
        // A list of one pair of texts would be taken for a text.
        Json operator()(const BooleanRule&) const { return Json::object({{"type", Json("boolean")}}); }
        Json operator()(const WholeRule& whole) const {
            return {{"type", "integer"}, {"minimum", whole.zero_is_default ? 0 : whole.min}, {"maximum", whole.max}};
        }
        Json operator()(const RealRule& real) const {
            return {{"type", "number"}, {"minimum", real.min}, {"maximum", real.max}};
        }
        Json operator()(const ChoiceRule& choice) const { return {{"enum", names_json(choice.choices)}}; }
        Json operator()(const ListRule& list) const {
            return {{"type", "array"},
                    {"items", {{"enum", names_json(list.choices)}}},
                    {"minItems", 1},
                    {"uniqueItems", true}};
        }
        Json operator()(const WholeListRule& list) const {
            return {{"type", "array"},
                    {"items", {{"type", "integer"}, {"minimum", list.min}, {"maximum", list.max}}},
                    {"uniqueItems", true}};
        }
        Json operator()(const TextRule& text) const { return text_schema(text); }
        Json operator()(const ListenRule&) const {
            return {{"type", "string"},
                    {"pattern", R"(^$|^(localhost|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+|\[[0-9A-Fa-f:.]+\]):[0-9]+$)"}};
        }
    };
    return std::visit(Cases(), rule);
}

Json setting_schema(const SettingRow& row, const Json& defaults) {
    Json schema = rule_schema(row.rule);
    schema["description"] =
        std::string(row.meaning) + (row.unit.empty() ? "" : " Unit: " + std::string(row.unit) + ".");
    const std::string key(row.key);
    if (!row.required && defaults.contains(key)) {
        schema["default"] = defaults[key];
    }
    schema["x-applies"] = std::string(to_string(row.applies));
    return schema;
}

/// The section as `driver` has it; "" where there are no drivers. `defaults` are its values when nothing is given.
Json section_schema(const SectionRow& section, std::string_view driver, const Json& defaults) {
    Json schema{{"type", "object"}, {"description", std::string(section.meaning)}, {"additionalProperties", false}};
    Json properties = Json::object();
    for (const SettingRow& row : settings_table()) {
        if (row.section != section.name || (!row.driver.empty() && row.driver != driver)) {
            continue;
        }
        const std::string key(row.key);
        properties[key] = setting_schema(row, defaults);
        if (row.key == "driver") {
            properties[key]["enum"] = Json::array({std::string(driver)});
        }
        if (row.required) {
            schema["required"].push_back(key);
        }
        if (!row.excludes.empty()) {
            schema["allOf"].push_back({{"not", {{"required", {key, std::string(row.excludes)}}}}});
        }
    }
    schema["properties"] = std::move(properties);
    return schema;
}

std::set<std::string_view> drivers_of(const SectionRow& section) {
    std::set<std::string_view> drivers;
    for (const SettingRow& row : settings_table()) {
        if (row.section == section.name && !row.driver.empty()) {
            drivers.insert(row.driver);
        }
    }
    return drivers;
}

/// The member of this name; null when there is none.
Json member(const Json& object, const std::string& name) {
    return object.contains(name) ? object[name] : Json();
}

/// `defaults` holds a device of each driver under its name, and one instance of each other section.
Json instances_schema(const SectionRow& section, const Json& defaults) {
    Json each;
    const std::set<std::string_view> drivers = drivers_of(section);
    for (const std::string_view driver : drivers) {
        each["oneOf"].push_back(section_schema(section, driver, member(defaults, std::string(driver))));
    }
    return {{"type", "object"},
            {"description", std::string(section.meaning)},
            {"maxProperties", section.count_max},
            {"propertyNames", {{"pattern", "^[a-z0-9_.-]{1,64}$"}}},
            {"additionalProperties", drivers.empty() ? section_schema(section, "", member(defaults, any_name)) : each}};
}

Json default_document() {
    Settings settings;
    settings.publish.emplace_back().name = any_name;
    settings.services.emplace_back().name = any_name;
    for (const SectionRow& section : section_table()) {
        for (const std::string_view driver : drivers_of(section)) {
            settings.devices.emplace_back();
            settings.devices.back().name = settings.devices.back().driver = driver;
        }
    }
    return Json::parse(settings_json(settings));
}

}  // namespace

std::string settings_schema_json() {
    const Json defaults = default_document();
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "Telegate settings"},
                {"type", "object"},
                {"additionalProperties", false}};
    for (const SectionRow& section : section_table()) {
        const std::string name(section.name);
        schema["properties"][name] = section.named() ? instances_schema(section, member(defaults, name))
                                                     : section_schema(section, "", member(defaults, name));
    }
    return schema.dump(2) + '\n';
}

}  // namespace telegate
