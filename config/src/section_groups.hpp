#pragma once

#include "config/given_settings.hpp"
#include "problem_list.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Everything that the sources give for one section.
struct SectionGroup {
    const SectionRow* row = nullptr;
    std::string name = {};       // "" if the kind has no names
    std::string_view type = {};  // of the section, or of the channel's device; "" if unknown
    // invalid as a section, but its values are still checked so that all problems are reported at once
    bool refused = false;
    struct Piece {
        const SettingsSource* source = nullptr;
        const GivenSection* section = nullptr;
    };
    std::vector<Piece> pieces = {};  // at least one, in the order of sources
};

/// Returns the groups in the order of their first occurrence, without types. Unknown, misnamed, duplicate and surplus
/// sections are problems. The sources must outlive the groups.
[[nodiscard]] std::vector<SectionGroup> group_sections(const std::vector<SettingsSource>& sources,
                                                       ProblemList& problems);

}  // namespace telegate
