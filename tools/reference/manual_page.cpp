#include "manual_page.hpp"

#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"

#include <string>
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
    text += row.applies != Applies::restart ? ".br\nA reload changes it.\n" : ".br\nA restart changes it.\n";
    return text;
}

constexpr std::string_view head = R"(.\" Made from the settings table; do not edit.
.TH GATEWAY.INI 5 "" Telegate "Telegate manual"
.SH NAME
gateway.ini \- settings of the Telegate telemetry gateway
.SH DESCRIPTION
Sections in brackets, and key = value in them. Comments begin with # or ; and stand on lines of their own. A section of
which there may be several has a name: [device "boiler"].
A value reaches to the end of its line and has no quotes; a backslash at the end joins the next line. Keys of [gateway]
may also stand before the first section.
[device "inverter-%d"] with instances = 1..20 is twenty devices; %d is the number of the instance in the names and values of
its sections and of the sections of its channels. In the section [tags], each NAME = VALUE is short for a section
[tags "NAME"] with value = VALUE.
.B gateway_app \-\-config FILE \-\-check
shows every mistake with its line,
.B \-\-print\-config
every value that holds with where it was given, and
.B \-\-print\-config=ini
a file with all keys.
.SH SOURCES
A later one wins:
.IP 1. 3
the defaults below
.IP 2. 3
the file that
.B \-\-config
names
.IP 3. 3
the files *.ini in conf.d beside it, or in the folder that
.B \-\-config\-dir
names, sorted by name; sections of one name are one section
.IP 4. 3
variables TELEGATE_SECTION_KEY or TELEGATE_SECTION_NAME_KEY, such as TELEGATE_QUEUE_POLICY; with _FILE behind it, a
variable names a file that holds the value
.IP 5. 3
.B \-\-set SECTION.KEY=VALUE
or SECTION.NAME.KEY=VALUE, in the order given
.IP 6. 3
.B \-\-log\-level
.SH VALUES
.TP
Times and sizes
A bare number is in the unit of its key. Other units may be written out, and are converted if that is exact: 250ms, 1.5s,
1m30s, 2h. Times: us, ms, s, m or min, h, d. Sizes: B, kB, MB, GB are powers of 1000; KiB, MiB, GiB, or K, M, G, are powers
of 1024.
.TP
Yes or no
yes, true, on, 1; no, false, off, 0; in any letter case.
.TP
Lists
Separated by commas. A key that is repeated goes on with its list, an empty value begins it anew. The list of a later
source stands in place of the earlier one.
.SH RELOAD
SIGHUP and POST /\-/reload read all sources again, PUT /config takes settings as JSON. Each setting below says whether
a reload changes it in a running gateway, or only a restart does.
)";

constexpr std::string_view foot = R"(.SH SEE ALSO
.BR gateway_app (1)
)";

}  // namespace

std::string settings_manual() {
    std::string text(head);
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
    return text += foot;
}

}  // namespace telegate::reference
