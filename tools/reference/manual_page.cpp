#include "manual_page.hpp"

#include "config/settings_table.hpp"

#include <string_view>

namespace telegate::reference {
namespace {

/// Text as troff shows it unchanged.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else if ((c == '.' || c == '\'') && out.empty()) {
            out += std::string("\\&") + c;  // else a request
        } else {
            out += c;
        }
    }
    return out;
}

std::string setting_text(const SettingRow& row) {
    std::string text = ".TP\n.B " + escaped(row.key) + "\n" + escaped(row.meaning) + '\n';
    if (!row.driver.empty()) {
        text += "Only with driver = " + escaped(row.driver) + ".\n";
    }
    text += ".br\nAllowed: " + escaped(allowed_text(row)) + ".\n";
    const std::string by_default = row.unset.empty() ? default_text(row) : std::string(row.unset);
    if (row.required) {
        text += ".br\nIt must be there.\n";
    } else if (!by_default.empty()) {
        text += ".br\nDefault: " + escaped(by_default) + ".\n";
    }
    return text;
}

constexpr std::string_view head = R"(.\" Made from the settings table; do not edit.
.TH GATEWAY.INI 5 "" Telegate "Telegate manual"
.SH NAME
gateway.ini \- settings of the Telegate telemetry gateway
.SH DESCRIPTION
Sections in brackets, and key = value in them. Comments begin with # or ; and stand on lines of their own. A section of
which there may be several has a name: [device "boiler"].
.B gateway_app \-\-config FILE \-\-check
shows every mistake with its line.
)";

constexpr std::string_view foot = R"(.SH SEE ALSO
.BR gateway_app (1)
)";

}  // namespace

std::string settings_manual() {
    std::string text(head);
    for (const SectionRow& section : section_table()) {
        text += ".SH \"[" + std::string(section.name) + (section.named() ? " \"\"NAME\"\"" : "") + "]\"\n";
        text += escaped(section.meaning) + '\n';
        for (const SettingRow& row : settings_table()) {
            if (row.section == section.name) {
                text += setting_text(row);
            }
        }
    }
    return text += foot;
}

}  // namespace telegate::reference
