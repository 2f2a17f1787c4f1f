#include "name_advice.hpp"

#include "config/joined.hpp"
#include "config/nearest_name.hpp"
#include "config/settings_table.hpp"

#include <algorithm>

namespace telegate {
namespace {

template <class Condition>
const SettingRow* find_row(Condition condition) {
    const auto rows = settings_table();
    const auto found = std::find_if(rows.begin(), rows.end(), condition);
    return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string_view> known_keys(std::string_view section, std::string_view type) {
    std::vector<std::string_view> keys;
    for (const SettingRow& row : settings_table()) {
        const bool fits = belongs(row, section, type) || (type.empty() && row.section == section);
        if (fits && std::find(keys.begin(), keys.end(), row.key) == keys.end()) {
            keys.push_back(row.key);
        }
    }
    return keys;
}

/// Returns the types that have this key.
std::vector<std::string_view> types_with(std::string_view section, std::string_view key) {
    std::vector<std::string_view> types;
    for (const SettingRow& row : settings_table()) {
        if (row.section == section && row.key == key && !row.type.empty()) {
            types.push_back(row.type);
        }
    }
    return types;
}

}  // namespace

std::string heading(const SectionRow& row) {
    return "[" + std::string(row.name) + (row.named() ? " \"" + std::string(row.name_form) + "\"]" : "]");
}

std::string did_you_mean(std::string_view text, const std::vector<std::string_view>& names) {
    if (const std::string_view near = nearest_name(text, names); !near.empty()) {
        return "; did you mean " + std::string(near) + "?";
    }
    return "; must be one of " + joined(names);
}

std::string section_advice(std::string_view kind) {
    std::vector<std::string_view> names;
    for (const SectionRow& row : section_table()) {
        names.push_back(row.name);
    }
    return did_you_mean(kind, names);
}

const SettingRow* row_for(std::string_view section, std::string_view type, std::string_view key) {
    if (const SettingRow* const row = find_setting(section, key, type)) {
        return row;
    }
    const std::vector<std::string_view> types = types_with(section, key);
    return type.empty() && types.size() == 1 ? find_setting(section, key, types.front()) : nullptr;
}

bool is_undecided(std::string_view section, std::string_view type, std::string_view key) {
    return type.empty() && types_with(section, key).size() > 1;
}

std::string misplaced_text(const MisplacedKey& found) {
    const auto is_key = [&](const SettingRow& row) {
        return row.key == found.key;
    };
    if (const std::vector<std::string_view> types = types_with(found.section, found.key); !types.empty()) {
        const bool is_channel = found.section == "channel";
        const std::string section(is_channel ? "device" : found.section);
        const std::string key(find_section(section)->type_key);
        return "only valid with the " + key + (types.size() > 1 ? "s " : " ") + joined(types) + ": the " + key +
               " of " + (is_channel ? "its " : "this ") + section + " is " + std::string(found.type);
    }
    const std::string unknown = "not a setting of " + found.title;
    if (const SettingRow* const row = find_row(is_key)) {
        return unknown + "; it belongs in " + heading(*find_section(row->section));
    }
    return unknown + did_you_mean(found.key, known_keys(found.section, found.type));
}

}  // namespace telegate
