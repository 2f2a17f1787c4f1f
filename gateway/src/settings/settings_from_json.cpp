#include "base/json_excerpt.hpp"
#include "base/strict_json.hpp"
#include "config/given_settings.hpp"
#include "config/hidden_secrets.hpp"
#include "config/joined.hpp"
#include "config/settings_table.hpp"
#include "settings/settings_json.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

/// The deepest nesting is a list in a section in an instance in a kind of section in the document.
constexpr std::size_t settings_depth_max = 4;
/// Maximum number of keys per object: more than any section has keys, or any kind of section has instances. Each key is
/// looked up among the others.
constexpr std::size_t settings_keys_max = 8'192;

/// The number of reported problems plus one, so that further ones are noticed.
constexpr std::size_t problems_max = 201;

SettingsProblem problem(std::string key, std::string what) {
    return {.place = {}, .key = std::move(key), .what = std::move(what)};
}

[[noreturn]] void refuse_settings(std::string key, std::string what) {
    throw SettingsError({problem(std::move(key), std::move(what))});
}

Json parsed_settings(std::string_view text) {
    if (text.size() > settings_json_bytes_max) {
        refuse_settings("", "is too large; must be at most " + std::to_string(settings_json_bytes_max) + " bytes");
    }
    Json document;
    if (auto fault = read_strict_json(text, {settings_depth_max, settings_keys_max}, document)) {
        refuse_settings(std::move(fault->pointer), std::move(fault->what));
    }
    if (!document.is_object()) {
        refuse_settings("", "is not an object; must be {\"SECTION\":{\"KEY\":VALUE}}");
    }
    return document;
}

/// A whole number may also be written as 5.0, because JSON does not distinguish the two.
std::optional<std::string> whole_text(const Json& value) {
    if (value.is_number_integer()) {
        return value.dump();
    }
    constexpr double exact_max = 9'007'199'254'740'992;
    if (value.is_number_float()) {
        const double number = value.get<double>();
        if (std::trunc(number) == number && std::abs(number) <= exact_max) {
            return std::to_string(static_cast<std::int64_t>(number));
        }
    }
    return std::nullopt;
}

/// Returns a text that is unchanged when it is written between commas.
std::optional<std::string> word_text(const Json& item) {
    constexpr std::string_view blanks = " \t";
    const std::string text = item.is_string() ? item.get<std::string>() : "";
    const bool is_word = !text.empty() && text.find(',') == std::string::npos &&
                         blanks.find(text.front()) == std::string_view::npos &&
                         blanks.find(text.back()) == std::string_view::npos;
    return is_word ? std::optional(text) : std::nullopt;
}

std::optional<std::string> list_text(const SettingRow& row, const Json& values) {
    const bool is_whole_list = std::holds_alternative<WholeListRule>(row.rule);
    std::vector<std::string> list;
    for (const Json& item : values.is_array() ? values : Json::array({nullptr})) {
        const std::optional<std::string> text = is_whole_list ? whole_text(item) : word_text(item);
        if (!text) {
            return std::nullopt;
        }
        list.push_back(*text);
    }
    return joined(list, ",");
}

/// Returns the text of `value` in an INI file, or nullopt if its type does not match the row.
std::optional<std::string> text_of(const SettingRow& row, const Json& value) {
    if (value.is_null() && row.slot.is_optional) {
        return "";
    }
    if (std::holds_alternative<BooleanRule>(row.rule)) {
        return value.is_boolean() ? std::optional(value.get<bool>() ? "yes" : "no") : std::nullopt;
    }
    if (const auto* const whole = std::get_if<WholeRule>(&row.rule)) {
        const bool is_word = !whole->zero_word.empty() && value == Json(whole->zero_word);
        return is_word ? std::string(whole->zero_word) : whole_text(value);
    }
    if (std::holds_alternative<RealRule>(row.rule)) {
        return value.is_number() ? std::optional(value.dump()) : std::nullopt;
    }
    if (is_list(row)) {
        return list_text(row, value);
    }
    return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

/// Returns the row of a key in this section for this type, or for any type if there is none.
const SettingRow* row_of(std::string_view section, std::string_view type, std::string_view key) {
    if (const SettingRow* const row = find_setting(section, key, type)) {
        return row;
    }
    for (const SettingRow& row : settings_table()) {
        if (row.section == section && row.key == key) {
            return &row;
        }
    }
    return nullptr;
}

/// Returns the type of a section, or of the device of a channel, or the default; "" if there is none.
std::string type_of(const Json& document, const GivenSection& section) {
    const std::string kind = section.kind == "channel" ? "device" : section.kind;
    const SectionRow* const row = find_section(kind);
    if (row == nullptr || row->type_key.empty()) {
        return "";
    }
    const std::string name = section.name.value_or("");
    const Json* found = &document;
    for (const std::string& key : {kind, name.substr(0, name.find('/')), std::string(row->type_key)}) {
        const auto member = found->is_object() ? found->find(key) : found->end();
        if (member == found->end()) {
            return default_text(*find_setting(kind, row->type_key));
        }
        found = &*member;
    }
    return found->is_string() ? found->get<std::string>() : "";
}

void add_entries(GivenSection& section, const std::string& type, const Json& fields) {
    for (const auto& [key, value] : fields.items()) {
        GivenEntry entry{.place = {}, .shown = section.shown + json_pointer_part(key), .key = key, .value = ""};
        if (const SettingRow* const row = row_of(section.kind, type, key)) {
            const std::optional<std::string> text = text_of(*row, value);
            entry.value = text.value_or("");
            entry.fault =
                text ? "" : (may_hold_secrets(*row) ? "the value" : json_excerpt(value)) + " has the wrong type";
        }
        section.entries.push_back(std::move(entry));
    }
}

/// The sections of a document, and the problems of its structure.
struct Understood {
    const Json& document;
    SettingsSource source = {};
    std::vector<SettingsProblem> problems = {};

    void complain(std::string pointer, const std::string& what) {
        if (problems.size() < problems_max) {
            problems.push_back(problem(std::move(pointer), what));
        }
    }

    void add(const std::string& kind, std::optional<std::string> name, const Json& fields) {
        const std::string pointer = json_pointer_part(kind) + (name ? json_pointer_part(*name) : "");
        if (!fields.is_object()) {
            return complain(pointer, json_excerpt(fields) + " has the wrong type; must be an object of settings");
        }
        GivenSection& section = source.sections.emplace_back();
        section.shown = pointer;
        section.kind = kind;
        section.name = std::move(name);
        add_entries(section, type_of(document, section), fields);
    }
};

Understood understood(const Json& document) {
    Understood found{.document = document};
    for (const auto& [kind, value] : document.items()) {
        const SectionRow* const row = find_section(kind);
        if (kind.empty()) {
            found.complain("/", "is not a known section");
        } else if (row == nullptr || !row->named()) {
            found.add(kind, std::nullopt, row != nullptr ? value : Json::object());
        } else if (!value.is_object()) {
            found.complain(json_pointer_part(kind),
                           json_excerpt(value) + " has the wrong type; must be an object with an object for each name");
        } else {
            for (const auto& [name, fields] : value.items()) {
                found.add(kind, name, fields);
            }
        }
    }
    return found;
}

/// Returns the JSON pointer of the setting or section that a problem is about.
std::string pointer_of(const SettingsProblem& problem) {
    const std::string_view setting = problem.setting;
    const std::size_t dot = setting.find('.');
    if (dot == std::string_view::npos) {
        return json_pointer_part("gateway") + json_pointer_part(setting);
    }
    std::string pointer = json_pointer_part(setting.substr(0, dot));
    const std::string_view rest = setting.substr(dot + 1);
    if (!rest.ends_with('.' + problem.key)) {
        return pointer + json_pointer_part(rest);
    }
    return pointer + json_pointer_part(rest.substr(0, rest.size() - problem.key.size() - 1)) +
           json_pointer_part(problem.key);
}

Settings settings_from_document(const Json& document) {
    Understood found = understood(document);
    return settings_from({std::move(found.source)}, std::move(found.problems), Notation::json);
}

}  // namespace

Settings settings_from_json(std::string_view text) {
    return settings_from_document(parsed_settings(text));
}

Settings settings_from_patch(const Settings& base, std::string_view patch) {
    Json document = settings_document(base);
    document.merge_patch(parsed_settings(patch));
    return settings_from_document(document);
}

std::vector<SettingsProblem> with_json_pointers(std::vector<SettingsProblem> problems) {
    for (SettingsProblem& each : problems) {
        if (each.place.name.empty() && !each.setting.empty() && !each.key.starts_with('/')) {
            each.key = pointer_of(each);
        }
    }
    return problems;
}

}  // namespace telegate
