#include "config/settings_diff.hpp"

#include "config/hidden_secrets.hpp"
#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace telegate {
namespace {

using Kind = SettingChange::Kind;

/// Returns how a new instance, or one with a new type, takes effect.
Applies applies_with(std::string_view kind, const SectionInstance& instance) {
    const auto table = settings_table();
    const bool any_file = std::any_of(table.begin(), table.end(), [&](const SettingRow& row) {
        if (!belongs(row, kind, instance.type)) {
            return false;
        }
        const std::string value = value_text(row, instance.owner);
        return applies_to(row, value) == Applies::file && value != default_text(row);
    });
    return any_file ? Applies::file : Applies::live;
}

void add_changed(std::string_view kind, const SectionInstance& from, const SectionInstance& to,
                 std::vector<SettingChange>& changes) {
    for (const SettingRow& row : settings_table()) {
        if (!belongs(row, kind, from.type) || !belongs(row, kind, to.type)) {
            continue;
        }
        const std::string before = value_text(row, from.owner);
        const std::string after = value_text(row, to.owner);
        if (before != after) {
            const Applies applies =
                row.key == find_section(kind)->type_key ? applies_with(kind, to) : applies_to(row, after);
            changes.push_back({std::string(row.section), to.name, std::string(row.key), shown_value(row, before),
                               shown_value(row, after), applies, Kind::changed});
        }
    }
}

using ByName = std::map<std::string_view, const SectionInstance*>;

ByName by_name(const std::vector<SectionInstance>& instances) {
    ByName map;
    for (const SectionInstance& each : instances) {
        map.emplace(each.name, &each);
    }
    return map;
}

void add_section(std::string_view kind, Settings& before, Settings& after, std::vector<SettingChange>& changes) {
    const std::vector<SectionInstance> from = instances_of(before, kind);
    const std::vector<SectionInstance> to = instances_of(after, kind);
    const ByName from_by_name = by_name(from);
    const ByName to_by_name = by_name(to);
    const auto whole = [&](const SectionInstance& instance, Kind how) {
        const Applies applies = how == Kind::added ? applies_with(kind, instance) : Applies::live;
        changes.push_back({std::string(kind), instance.name, "", "", "", applies, how});
    };
    for (const SectionInstance& each : from) {
        if (!to_by_name.contains(each.name)) {
            whole(each, Kind::removed);
        }
    }
    for (const SectionInstance& each : to) {
        if (const auto found = from_by_name.find(each.name); found != from_by_name.end()) {
            add_changed(kind, *found->second, each, changes);
        } else {
            whole(each, Kind::added);
        }
    }
}

}  // namespace

std::string_view to_string(SettingChange::Kind kind) noexcept {
    switch (kind) {
        case Kind::changed: return "changed";
        case Kind::added: return "added";
        case Kind::removed: return "removed";
    }
    return "";
}

std::string key_text(const SettingChange& change) {
    std::string text = change.section;
    for (const std::string& part : {change.name, change.key}) {
        text += part.empty() ? "" : '.' + part;
    }
    return text;
}

std::vector<SettingChange> diff(const Settings& from, const Settings& to) {
    Settings before = from;  // the table's slots need mutable settings
    Settings after = to;
    std::vector<SettingChange> changes;
    for (const SectionRow& section : section_table()) {
        add_section(section.name, before, after, changes);
    }
    return changes;
}

Settings without_restarts(const Settings& in_force, Settings wanted) {
    Settings before = in_force;  // the table's slots need mutable settings
    for (const SettingRow& row : settings_table()) {
        if (row.applies == Applies::restart) {
            row.slot.set(&wanted, row.slot.get(&before));
        }
    }
    return wanted;
}

}  // namespace telegate
