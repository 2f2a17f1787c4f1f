#include "short_sections.hpp"

#include "config/settings_table.hpp"

#include <string>
#include <utility>
#include <vector>

namespace telegate {
namespace {

const SectionRow* short_row(const GivenSection& section) {
    const SectionRow* const row = section.name ? nullptr : find_section(section.kind);
    return row == nullptr || row->short_key.empty() ? nullptr : row;
}

}  // namespace

void expand_short_sections(SettingsSource& source) {
    std::vector<GivenSection> expanded;
    for (GivenSection& section : source.sections) {
        const SectionRow* const row = short_row(section);
        if (row == nullptr) {
            expanded.push_back(std::move(section));
            continue;
        }
        for (GivenEntry& entry : section.entries) {
            GivenSection& whole = expanded.emplace_back();
            whole.place = entry.place;
            whole.shown = entry.shown;
            whole.kind = section.kind;
            whole.name = std::exchange(entry.key, std::string(row->short_key));
            whole.entries.push_back(std::move(entry));
        }
    }
    source.sections = std::move(expanded);
}

}  // namespace telegate
