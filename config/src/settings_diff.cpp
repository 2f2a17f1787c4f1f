#include "config/settings_diff.hpp"

#include "config/settings_table.hpp"

#include <algorithm>

namespace telegate {
namespace {

using Kind = SettingChange::Kind;

std::string_view driver_of(const SettingOwner& owner) {
    const auto* const device = std::get_if<DeviceSettings*>(&owner);
    return device == nullptr ? std::string_view() : std::string_view((*device)->driver);
}

/// One section before and after.
struct Section {
    std::string_view name;
    SettingOwner from;
    SettingOwner to;
};

bool belongs_to_both(const SettingRow& row, const Section& section) {
    return row.driver.empty() || (row.driver == driver_of(section.from) && row.driver == driver_of(section.to));
}

void add_changed(std::string_view kind, const Section& section, std::vector<SettingChange>& changes) {
    for (const SettingRow& row : settings_table()) {
        if (row.section != kind || !belongs_to_both(row, section)) {
            continue;
        }
        std::string from = value_text(row, section.from);
        std::string to = value_text(row, section.to);
        if (from != to) {
            changes.push_back({std::string(row.section), std::string(section.name), std::string(row.key),
                               std::move(from), std::move(to), row.applies, Kind::changed});
        }
    }
}

/// A section can come and go while the gateway runs when all of its settings can change then.
Applies applies_of(std::string_view section) {
    const auto table = settings_table();
    const bool any_restart = std::any_of(table.begin(), table.end(), [&](const SettingRow& row) {
        return row.section == section && row.applies == Applies::restart;
    });
    return any_restart ? Applies::restart : Applies::live;
}

template <class Instance>
Instance* find(std::vector<Instance>& instances, std::string_view name) {
    const auto found =
        std::find_if(instances.begin(), instances.end(), [&](const Instance& each) { return each.name == name; });
    return found == instances.end() ? nullptr : &*found;
}

template <class Instance>
void add_instances(std::string_view kind, std::vector<Instance>& from, std::vector<Instance>& to,
                   std::vector<SettingChange>& changes) {
    const auto whole = [&](const Instance& instance, Kind how) {
        changes.push_back({std::string(kind), instance.name, "", "", "", applies_of(kind), how});
    };
    for (const Instance& before : from) {
        if (find(to, before.name) == nullptr) {
            whole(before, Kind::removed);
        }
    }
    for (Instance& after : to) {
        Instance* const before = find(from, after.name);
        if (before == nullptr) {
            whole(after, Kind::added);
        } else {
            add_changed(kind, {after.name, before, &after}, changes);
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
    Settings before = from;  // the table's slots are places that could be written to
    Settings after = to;
    std::vector<SettingChange> changes;
    for (const SectionRow& section : section_table()) {
        if (section.name == "publish") {
            add_instances(section.name, before.publish, after.publish, changes);
        } else if (section.name == "services") {
            add_instances(section.name, before.services, after.services, changes);
        } else if (section.name == "device") {
            add_instances(section.name, before.devices, after.devices, changes);
        } else {
            add_changed(section.name, {"", &before, &after}, changes);
        }
    }
    return changes;
}

}  // namespace telegate
