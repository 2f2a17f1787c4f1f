#include "config/settings_walk.hpp"

#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"

namespace telegate {
namespace {

void walk_instance(std::string_view section, const SectionInstance& instance,
                   const std::function<void(const SettingSpot&)>& visit) {
    for (const SettingRow& row : settings_table()) {
        if (belongs(row, section, instance.driver)) {
            visit({row, instance.name, instance.owner});
        }
    }
}

}  // namespace

void walk(Settings& settings, const std::function<void(const SettingSpot&)>& visit) {
    for (const SectionRow& section : section_table()) {
        for (const SectionInstance& instance : instances_of(settings, section.name)) {
            walk_instance(section.name, instance, visit);
        }
    }
}

}  // namespace telegate
