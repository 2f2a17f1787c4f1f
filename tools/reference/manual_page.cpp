#include "pages.hpp"

#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"

#include <string>
#include <string_view>

namespace telegate::reference {
namespace {

/// Escapes text for troff.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else if ((c == '.' || c == '\'') && out.empty()) {
            out += std::string("\\&") + c;  // would be a request at the start of a line
        } else {
            out += c;
        }
    }
    return out;
}

std::string setting_text(const SettingRow& row) {
    const std::string_view type_key = find_section(row.section == "channel" ? "device" : row.section)->type_key;
    std::string text = ".TP\n.B " + escaped(row.key) + "\n" + escaped(row.meaning) + '\n';
    if (!row.type.empty()) {
        text += "Only for " + escaped(type_key) + " = " + escaped(row.type) + ".\n";
    }
    text += ".br\nAllowed: " + escaped(allowed_text(row)) + ".\n";
    const std::string by_default = row.unset.empty() ? default_text(row) : std::string(row.unset);
    if (row.required) {
        text += ".br\nRequired.\n";
    } else if (!by_default.empty()) {
        text += ".br\nDefault: " + escaped(by_default) + ".\n";
    }
    text += row.applies != Applies::restart ? ".br\nApplied by a reload.\n" : ".br\nApplied by a restart.\n";
    return text;
}

}  // namespace

std::string with_manual_settings(std::string_view page) {
    std::string text = ".\\\" Generated from the settings table; do not edit.\n";
    for (const SectionRow& section : section_table()) {
        text += ".SH \"[" + std::string(section.name) +
                (section.named() ? " \"\"" + std::string(section.name_form) + "\"\"" : "") + "]\"\n";
        text += escaped(section.meaning) + '\n';
        if (section.named()) {
            text += "At most " + std::to_string(section.count_max) +
                    ", each with a name: " + escaped(allowed_name(section)) + ".\n";
        }
        for (const SettingRow& row : settings_table()) {
            if (row.section == section.name) {
                text += setting_text(row);
            }
        }
    }
    return with_part(page, "settings", text);
}

}  // namespace telegate::reference
