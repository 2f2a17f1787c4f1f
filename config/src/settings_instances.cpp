#include "config/settings_instances.hpp"

#include "config/settings_table.hpp"
#include "overloaded.hpp"
#include "rows.hpp"

#include <algorithm>
#include <map>

namespace telegate {
namespace {

constexpr std::size_t section_name_bytes_max = 64;
constexpr std::string_view name_characters = "abcdefghijklmnopqrstuvwxyz0123456789_.-";

/// Calls `visit` with all sections of a kind that has names. Returns false for other kinds.
template <class Visit>
bool visit_named(Settings& settings, std::string_view section, Visit visit) {
    if (section == "tags") {
        visit(settings.tags);
    } else if (section == "publish") {
        visit(settings.publish);
    } else if (section == "services") {
        visit(settings.services);
    } else if (section == "uplink") {
        visit(settings.uplinks);
    } else if (section == "device") {
        visit(settings.devices);
    } else if (section == "channel") {
        visit(settings.channels);
    } else {
        return false;
    }
    return true;
}

std::map<std::string_view, std::string_view> drivers_by_device(const Settings& settings) {
    std::map<std::string_view, std::string_view> drivers;
    for (const DeviceSettings& device : settings.devices) {
        drivers.emplace(device.name, device.driver);
    }
    return drivers;
}

/// Returns whether the name can be a topic part.
bool is_part(std::string_view name) noexcept {
    return !name.empty() && name.size() <= section_name_bytes_max &&
           name.find_first_not_of(name_characters) == std::string_view::npos;
}

/// Returns whether the name can be a metric label.
bool is_label(std::string_view name) noexcept {
    return is_part(name) && name.find_first_of(".-") == std::string_view::npos &&
           (name.front() < '0' || name.front() > '9');
}

void walk_instance(std::string_view section, const SectionInstance& instance,
                   const std::function<void(const SettingSpot&)>& visit) {
    for (const SettingRow& row : settings_table()) {
        if (belongs(row, section, instance.type)) {
            visit({row, instance.name, instance.owner});
        }
    }
}

}  // namespace

std::vector<SectionInstance> instances_of(Settings& settings, std::string_view section) {
    std::map<std::string_view, std::string_view> drivers;
    if (section == "channel" && !settings.channels.empty()) {
        drivers = drivers_by_device(settings);
    }
    const Overloaded type_of{[](const DeviceSettings& device) { return std::string_view(device.driver); },
                             [&](const ChannelSettings& channel) {
                                 const auto found = drivers.find(channel.device());
                                 return found == drivers.end() ? std::string_view() : found->second;
                             },
                             [](const UplinkSettings& uplink) { return std::string_view(uplink.type); },
                             [](const auto& /*other*/) {
                                 return std::string_view();
                             }};
    std::vector<SectionInstance> instances;
    const bool is_named = visit_named(settings, section, [&](auto& all) {
        instances.reserve(all.size());
        for (auto& each : all) {
            instances.push_back({each.name, type_of(each), &each});
        }
    });
    if (!is_named) {
        instances.push_back({"", "", &settings});
    }
    return instances;
}

SettingOwner add_instance(Settings& settings, std::string_view section, const std::string& name) {
    SettingOwner owner = &settings;
    visit_named(settings, section, [&](auto& all) {
        all.emplace_back().name = name;
        owner = &all.back();
    });
    return owner;
}

SettingOwner default_owner(std::string_view section) {
    static Settings defaults;
    static const std::map<std::string_view, SettingOwner> owners = [] {
        std::map<std::string_view, SettingOwner> all;
        for (const SectionRow& row : section_table()) {
            all.emplace(row.name, add_instance(defaults, row.name, ""));
        }
        return all;
    }();
    return owners.at(section);
}

std::optional<SettingsPlace> SettingSpot::place() const {
    const auto* const places =
        std::visit(Overloaded{[&](const Settings* settings) { return &settings->places_of(row.section); },
                              [](const NamedSection* section) {
                                  return &section->places;
                              }},
                   owner);
    const auto found = places->find(row.key);
    return found == places->end() ? std::nullopt : std::optional(found->second);
}

std::string SettingSpot::origin() const {
    const auto given = place();
    if (!given) {
        return "default";
    }
    const bool is_option = given->source == SettingSource::command_line;
    return is_option ? given->name.substr(0, given->name.find(' ')) : given->text();  // the option without its value
}

std::string allowed_name(const SectionRow& section) {
    const std::string part = "1 to " + std::to_string(section_name_bytes_max) + " of the characters a-z 0-9 _" +
                             (section.is_label ? ", not beginning with a digit" : " . -");
    return section.of_channel() ? std::string(section.name_form) + ", each " + part : part;
}

std::string name_pattern(const SectionRow& section) {
    if (section.is_label) {
        return "^[a-z_][a-z0-9_]{0," + std::to_string(section_name_bytes_max - 1) + "}$";
    }
    const std::string part = "[a-z0-9_.-]{1," + std::to_string(section_name_bytes_max) + "}";
    return "^" + part + (section.of_channel() ? "/" + part : "") + "$";
}

bool is_name_allowed(const SectionRow& section, std::string_view name) noexcept {
    if (!section.of_channel()) {
        return section.is_label ? is_label(name) : is_part(name);
    }
    const std::size_t slash = name.find('/');
    return slash != std::string_view::npos && is_part(name.substr(0, slash)) && is_part(name.substr(slash + 1));
}

void walk(Settings& settings, const std::function<void(const SettingSpot&)>& visit) {
    for (const SectionRow& section : section_table()) {
        for (const SectionInstance& instance : instances_of(settings, section.name)) {
            walk_instance(section.name, instance, visit);
        }
    }
}

}  // namespace telegate
