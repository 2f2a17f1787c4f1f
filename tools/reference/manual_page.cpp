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
    std::string text = ".TP\n.B " + escaped(row.key) + "\n" + escaped(row.meaning) + '\n';
    if (!row.driver.empty()) {
        text += "Only for driver = " + escaped(row.driver) + ".\n";
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

constexpr std::string_view head = R"(.\" Generated from the settings table; do not edit.
.TH GATEWAY.INI 5 "" Telegate "Telegate manual"
.SH NAME
gateway.ini \- settings of the Telegate telemetry gateway
.SH DESCRIPTION
The file consists of sections in brackets with lines of the form key = value. A comment is a line that begins with # or
;. Sections that can occur several times have a name: [device "boiler"]. A value extends to the end of its line and is
not quoted. A backslash at the end of a line continues the value on the next line. Keys of [gateway] can also be given
before the first section.
.PP
[device "inverter-%d"] with instances = 1..20 is a template for twenty devices. In the names and values of its sections,
and of the sections of its channels, %d is replaced with the number of the instance. In the section [tags], NAME = VALUE
is a short form of a section [tags "NAME"] with value = VALUE.
.PP
.B gateway_app \-\-config FILE \-\-check
reports all problems with their lines,
.B \-\-print\-config
shows every setting and its source, and
.B \-\-print\-config=ini
prints a file with all keys.
.SH SOURCES
Later sources override earlier ones:
.IP 1. 3
the defaults listed below
.IP 2. 3
the file given by
.B \-\-config
.IP 3. 3
the files *.ini in the directory conf.d next to it, or in the directory given by
.BR \-\-config\-dir ,
sorted by name; sections with the same name are merged
.IP 4. 3
environment variables of the form TELEGATE_SECTION_KEY or TELEGATE_SECTION_NAME_KEY, such as TELEGATE_QUEUE_POLICY; with
the suffix _FILE, a variable names a file that contains the value
.IP 5. 3
.B \-\-set SECTION.KEY=VALUE
or SECTION.NAME.KEY=VALUE, in the given order
.IP 6. 3
.B \-\-log\-level
.SH VALUES
.TP
Times and sizes
A number without a unit uses the unit of its key. Other units can be given if the value can be converted exactly: 250ms,
1.5s, 1m30s, 2h. Time units: us, ms, s, m or min, h, d. Size units: B; kB, MB, GB (powers of 1000); KiB, MiB, GiB or K,
M, G (powers of 1024).
.TP
Yes or no
yes, true, on, 1 or no, false, off, 0, in upper or lower case.
.TP
Lists
Elements are separated by commas. A repeated key in the same source appends to the list; an empty value clears it. A
list from a later source replaces the earlier one.
.SH RELOAD
SIGHUP and POST /\-/reload read all sources again; PUT /config accepts settings as JSON. Each setting below says whether
a reload or only a restart applies a change.
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
