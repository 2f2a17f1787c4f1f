#include "assignments.hpp"

#include "config/settings_table.hpp"
#include "name_advice.hpp"

#include <optional>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

/// Parses `path`, the part before the equals sign. Returns what is wrong with it; "" if nothing.
std::string take_apart(std::string_view path, GivenSection& section, GivenEntry& entry) {
    const std::size_t first = path.find('.');
    if (first == std::string_view::npos) {
        section.kind = "gateway";
        entry.key = path;
        return "";
    }
    const std::size_t last = path.rfind('.');
    section.kind = path.substr(0, first);
    entry.key = path.substr(last + 1);
    if (last > first) {
        section.name = path.substr(first + 1, last - first - 1);
    }
    const SectionRow* const row = find_section(section.kind);
    if (row == nullptr) {
        return "unknown section: " + quoted(section.kind) + section_advice(section.kind);
    }
    if (row->named() != section.name.has_value() && row->short_key.empty()) {
        const std::string allowed = section.kind + (row->named() ? ".NAME.KEY=VALUE" : ".KEY=VALUE");
        return (row->named() ? "no name given for " + section.kind
                             : "unexpected name: " + heading(*row) + " takes no name") +
               "; must be " + allowed;
    }
    return "";
}

}  // namespace

SettingsSource assignments_source(const std::vector<std::string>& assignments, ProblemList& problems) {
    SettingsSource source{.sections = {}, .last_wins = true};
    for (const std::string& assignment : assignments) {
        const SettingsPlace place{"--set " + printable(assignment), 0, SettingSource::command_line};
        const std::size_t sign = assignment.find('=');
        if (sign == std::string::npos || sign == 0) {
            problems.add(place, "", "not an assignment; must be SECTION.KEY=VALUE or SECTION.NAME.KEY=VALUE");
            continue;
        }
        GivenSection section{.place = place, .shown = "", .kind = "", .name = std::nullopt, .entries = {}};
        GivenEntry entry{.place = place, .shown = "", .key = "", .value = assignment.substr(sign + 1)};
        if (std::string fault = take_apart(std::string_view(assignment).substr(0, sign), section, entry);
            !fault.empty()) {
            problems.add({.place = place,
                          .key = "",
                          .what = std::move(fault),
                          .setting = printable(assignment.substr(0, sign))});
            continue;
        }
        section.entries.push_back(std::move(entry));
        source.sections.push_back(std::move(section));
    }
    return source;
}

}  // namespace telegate
