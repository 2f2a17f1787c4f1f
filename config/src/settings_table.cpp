#include "config/settings_table.hpp"

#include "config/type_rows.hpp"
#include "rows.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace telegate {
namespace {

constexpr std::array sections{
    SectionRow{.name = "gateway",
               .meaning = "The gateway as a whole. These keys may also be given before the first section."},
    SectionRow{.name = "sampling", .meaning = "The thread that reads the devices."},
    SectionRow{.name = "queue", .meaning = "The queue between the sampling threads and the subscribers."},
    SectionRow{.name = "log", .meaning = "The durable log, which keeps published samples on disk."},
    SectionRow{.name = "logging", .meaning = "Destination and format of the log."},
    SectionRow{.name = "rest", .meaning = "The REST server, which shows and controls the gateway."},
    SectionRow{.name = "tags",
               .count_max = 16,
               .meaning = "One tag: a name and a text about the whole gateway, such as its site, that are sent with "
                          "its samples.",
               .short_key = "value",
               .is_label = true},
    SectionRow{.name = "publish", .count_max = 16, .meaning = "One endpoint that subscribers connect to."},
    SectionRow{.name = "services", .count_max = 4, .meaning = "One endpoint of the ROUTER services."},
    SectionRow{.name = "uplink",
               .count_max = 4,
               .meaning = "One back end to which the durable log is delivered.",
               .type_key = "type"},
    SectionRow{.name = "device",
               .count_max = 256,
               .meaning = "One device; its name is the first part of its topics.",
               .type_key = "driver"},
    SectionRow{.name = "channel",
               .count_max = 8'192,
               .name_form = "DEVICE/CHANNEL",
               .meaning = "The settings of one channel of a device; its name is its topic."},
};

/// Returns the position of a section in the table.
std::size_t rank(std::string_view section) noexcept {
    return static_cast<std::size_t>(find_section(section) - sections.data());
}

std::vector<std::string_view> names_of(std::span<const TypeRows> types) {
    std::vector<std::string_view> names;
    for (const TypeRows& each : types) {
        if (!each.type.empty()) {
            names.push_back(each.type);
        }
    }
    return names;
}

/// Joins all parts, sorted by section; within a section in the order given here.
std::vector<SettingRow> joined_rows() {
    static const std::vector<std::string_view> drivers = names_of(driver_rows());
    static const std::vector<std::string_view> uplinks = names_of(uplink_rows());
    std::vector<SettingRow> all;
    for (const std::span<const SettingRow> part : {gateway_rows(), endpoint_rows()}) {
        all.insert(all.end(), part.begin(), part.end());
    }
    for (const std::span<const TypeRows> types : {uplink_rows(), driver_rows()}) {
        for (const TypeRows& each : types) {
            for (SettingRow row : each.rows) {
                row.type = each.type;
                all.push_back(row);
            }
        }
    }
    for (SettingRow& row : all) {
        if (row.key == find_section(row.section)->type_key) {
            row.rule = ChoiceRule{row.section == "device" ? drivers : uplinks};
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const SettingRow& a, const SettingRow& b) { return rank(a.section) < rank(b.section); });
    return all;
}

}  // namespace

std::span<const SectionRow> section_table() noexcept {
    return sections;
}

std::span<const SettingRow> settings_table() noexcept {
    static const std::vector<SettingRow> rows = joined_rows();
    return rows;
}

const SectionRow* find_section(std::string_view name) noexcept {
    const auto* const found =
        std::find_if(sections.begin(), sections.end(), [&](const SectionRow& row) { return row.name == name; });
    return found == sections.end() ? nullptr : found;
}

const SettingRow* find_setting(std::string_view section, std::string_view key, std::string_view type) noexcept {
    const auto rows = settings_table();
    const auto found = std::find_if(
        rows.begin(), rows.end(), [&](const SettingRow& row) { return row.key == key && belongs(row, section, type); });
    return found == rows.end() ? nullptr : &*found;
}

bool belongs(const SettingRow& row, std::string_view section, std::string_view type) noexcept {
    return row.section == section && (row.type.empty() || row.type == type);
}

std::span<const std::string_view> types_of(std::string_view section) noexcept {
    return std::get<ChoiceRule>(find_setting(section, find_section(section)->type_key)->rule).choices;
}

}  // namespace telegate
