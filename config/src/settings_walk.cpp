#include "config/settings_walk.hpp"

#include "config/settings_table.hpp"

#include <string_view>

namespace telegate {
namespace {

using Visit = std::function<void(const SettingSpot&)>;

void walk_section(std::string_view section, const std::string& name, SettingOwner owner, const Visit& visit) {
    DeviceSettings* const* const device = std::get_if<DeviceSettings*>(&owner);
    for (const SettingRow& row : settings_table()) {
        const bool fits = row.driver.empty() || (device != nullptr && row.driver == (*device)->driver);
        if (row.section == section && fits) {
            visit({row, name, owner});
        }
    }
}

}  // namespace

void walk(Settings& settings, const Visit& visit) {
    for (const SectionRow& section : section_table()) {
        if (section.name == "publish") {
            for (PublishSettings& publish : settings.publish) {
                walk_section(section.name, publish.name, &publish, visit);
            }
        } else if (section.name == "services") {
            for (ServiceSettings& services : settings.services) {
                walk_section(section.name, services.name, &services, visit);
            }
        } else if (section.name == "device") {
            for (DeviceSettings& device : settings.devices) {
                walk_section(section.name, device.name, &device, visit);
            }
        } else {
            walk_section(section.name, "", &settings, visit);
        }
    }
}

}  // namespace telegate
