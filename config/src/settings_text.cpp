#include "config/settings_text.hpp"

#include "config/hidden_secrets.hpp"
#include "config/setting_row.hpp"
#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

namespace telegate {
namespace {

constexpr std::size_t comment_width = 110;

/// Adds `text` as comment lines that are broken between words.
void add_comment(std::string& out, std::string_view text) {
    while (text.size() > comment_width) {
        const std::size_t blank = text.rfind(' ', comment_width);
        const std::size_t size = blank == std::string_view::npos ? comment_width : blank;
        out += "# " + std::string(text.substr(0, size)) + "\n";
        text.remove_prefix(blank == std::string_view::npos ? size : size + 1);
    }
    out += "# " + std::string(text) + "\n";
}

std::string padded(const std::string& text, std::size_t width) {
    return text + std::string(width - std::min(width, text.size()), ' ');
}

void add_heading(std::string& out, const SectionRow& section, const std::string& name) {
    out += out.empty() ? "" : "\n";
    add_comment(out, section.meaning);
    out += "[" + std::string(section.name) + (name.empty() ? "" : " \"" + name + "\"") + "]\n";
}

void add_explanation(std::string& out, const SettingRow& row) {
    const std::string standard = default_text(row);
    out += '\n';
    add_comment(out, row.meaning);
    add_comment(out,
                "Allowed: " + allowed_text(row) +
                    (row.required ? ". Required." : ". Default: " + (standard.empty() ? "empty" : standard) + ".") +
                    (row.applies != Applies::restart ? " Applied by a reload." : " Applied by a restart."));
}

/// Returns whether a value need not be written: it is not set, or it is a default in a channel section. Channel keys
/// are commented out because some of them are refused if others are missing.
bool goes_without_saying(const SettingSpot& spot) {
    return is_unset(spot.row, spot.owner) ||
           (spot.row.section == "channel" && value_text(spot.row, spot.owner) == default_text(spot.row));
}

void add_value(std::string& out, const SettingSpot& spot) {
    const bool unset = is_unset(spot.row, spot.owner);
    out += (goes_without_saying(spot) ? "# " : "") + std::string(spot.row.key) + " = " +
           (unset ? "" : value_text(spot.row, spot.owner));
    while (out.back() == ' ') {
        out.pop_back();
    }
    out += '\n';
}

/// Returns the sections for which `is_wanted` is true.
template <class Condition>
std::string as_ini(const Settings& settings, Condition is_wanted) {
    std::string out;
    Settings copy = settings;
    const SectionRow* section = nullptr;
    std::string name;
    std::set<const SettingRow*> explained;
    walk(copy, [&](const SettingSpot& spot) {
        const SectionRow* const here = find_section(spot.row.section);
        if (!is_wanted(*here)) {
            return;
        }
        if (section != here || name != spot.name) {
            section = here;
            name = spot.name;
            add_heading(out, *section, name);
        }
        if (explained.insert(&spot.row).second) {
            add_explanation(out, spot.row);
            add_value(out, spot);
        } else if (!goes_without_saying(spot)) {
            add_value(out, spot);
        }
    });
    return out;
}

/// Returns one section of each kind with names, and one for each type with its own keys.
Settings one_of_each() {
    Settings some;
    for (const SectionRow& section : section_table()) {
        if (section.named() && section.type_key.empty() && !section.of_channel()) {
            (void)add_instance(some, section.name, "NAME");
        }
        for (const std::string_view type :
             section.type_key.empty() ? std::span<const std::string_view>() : types_of(section.name)) {
            const SettingOwner owner = add_instance(some, section.name, std::string(type));
            (void)assign(*find_setting(section.name, section.type_key), owner, type);
        }
    }
    for (const std::string_view name : types_of("device")) {
        const auto rows = settings_table();
        if (std::any_of(rows.begin(), rows.end(),
                        [&](const SettingRow& row) { return row.section == "channel" && row.type == name; })) {
            some.channels.emplace_back().name = std::string(name) + "/CHANNEL";
        }
    }
    if (some.channels.empty()) {
        some.channels.emplace_back().name = "DEVICE/CHANNEL";
    }
    return some;
}

/// Returns, as comments, the sections with names that have no instance.
std::string examples(const Settings& settings) {
    Settings copy = settings;
    std::string out;
    std::istringstream lines(as_ini(one_of_each(), [&](const SectionRow& section) {
        return section.named() && instances_of(copy, section.name).empty();
    }));
    for (std::string line; std::getline(lines, line);) {
        out += (line.empty() || line.starts_with('#') ? "" : "# ") + line + "\n";
    }
    return (out.empty() ? "" : "\n") + out;
}

}  // namespace

std::string effective_text(const Settings& settings) {
    std::vector<std::array<std::string, 3>> lines;
    std::array<std::size_t, 2> widths{};
    Settings copy = settings;
    walk(copy, [&](const SettingSpot& spot) {
        const std::string value = shown_text(spot.row, spot.owner);
        lines.push_back({std::string(spot.row.section) + "." + (spot.name.empty() ? "" : spot.name + ".") +
                             std::string(spot.row.key),
                         is_unset(spot.row, spot.owner) ? "(" + value + ")" : value, spot.origin()});
        widths = {std::max(widths[0], lines.back()[0].size()), std::max(widths[1], lines.back()[1].size())};
    });
    std::string out;
    for (const auto& [name, value, origin] : lines) {
        out += padded(name, widths[0]) + " = " + padded(value, widths[1]) + "  " + origin + "\n";
    }
    return out;
}

std::string sample_ini(const Settings& settings) {
    return as_ini(settings, [](const SectionRow&) { return true; }) + examples(settings);
}

}  // namespace telegate
