#include "config/settings_text.hpp"

#include "config/setting_row.hpp"
#include "config/settings_table.hpp"
#include "config/settings_walk.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <sstream>
#include <string_view>
#include <vector>

namespace telegate {
namespace {

constexpr std::size_t comment_width = 110;

/// Adds `text` as comment lines that end between words.
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

void add_setting(std::string& out, const SettingSpot& spot) {
    const SettingRow& row = spot.row;
    const std::string standard = default_text(row);
    const bool unset = is_unset(row, spot.owner);
    out += '\n';
    add_comment(out, row.meaning);
    add_comment(out,
                "Allowed: " + allowed_text(row) +
                    (row.required ? ". Needed." : ". Default: " + (standard.empty() ? "nothing" : standard) + ".") +
                    (row.applies == Applies::live ? " A reload changes it." : " A restart changes it."));
    out += (unset ? "# " : "") + std::string(row.key) + " = " + (unset ? "" : value_text(row, spot.owner));
    while (out.back() == ' ') {
        out.pop_back();
    }
    out += '\n';
}

/// All sections, or only those of which there can be several.
enum class Sections : std::uint8_t { all, named };

std::string as_ini(const Settings& settings, Sections which) {
    std::string out;
    Settings copy = settings;
    const SectionRow* section = nullptr;
    std::string name;
    walk(copy, [&](const SettingSpot& spot) {
        const SectionRow* const here = find_section(spot.row.section);
        if (which == Sections::named && !here->named()) {
            return;
        }
        if (section != here || name != spot.name) {
            section = here;
            name = spot.name;
            add_heading(out, *section, name);
        }
        add_setting(out, spot);
    });
    return out;
}

/// The sections of which there could be several and is none, as comments.
std::string examples(const Settings& settings) {
    Settings some;
    if (settings.publish.empty()) {
        some.publish.emplace_back().name = "NAME";
    }
    if (settings.services.empty()) {
        some.services.emplace_back().name = "NAME";
    }
    if (settings.devices.empty()) {
        const SettingRow& driver = *find_setting("device", "driver");
        for (const std::string_view name : std::get<ChoiceRule>(driver.rule).choices) {
            some.devices.emplace_back().name = name;
            some.devices.back().driver = name;
        }
    }
    std::string out;
    std::istringstream lines(as_ini(some, Sections::named));
    for (std::string line; std::getline(lines, line);) {
        out += (line.empty() || line.starts_with('#') ? "" : "# ") + line + "\n";
    }
    return (out.empty() ? "" : "\n") + out;
}

}  // namespace

std::string effective_text(const LoadedSettings& loaded) {
    std::vector<std::array<std::string, 3>> lines;
    std::array<std::size_t, 2> widths{};
    Settings settings = loaded.settings;
    walk(settings, [&](const SettingSpot& spot) {
        const std::string value = value_text(spot.row, spot.owner);
        lines.push_back({std::string(spot.row.section) + "." + (spot.name.empty() ? "" : spot.name + ".") +
                             std::string(spot.row.key),
                         is_unset(spot.row, spot.owner) ? "(" + value + ")" : value, loaded.origins.text(spot.key())});
        widths = {std::max(widths[0], lines.back()[0].size()), std::max(widths[1], lines.back()[1].size())};
    });
    std::string out;
    for (const auto& [name, value, origin] : lines) {
        out += padded(name, widths[0]) + " = " + padded(value, widths[1]) + "  " + origin + "\n";
    }
    return out;
}

std::string sample_ini(const Settings& settings) {
    return as_ini(settings, Sections::all) + examples(settings);
}

}  // namespace telegate
