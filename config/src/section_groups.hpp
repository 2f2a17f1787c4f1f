#pragma once

#include "config/given_settings.hpp"
#include "problem_list.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace telegate {

/// Everything that the sources give for one section.
struct SectionGroup {
    const SectionRow* row = nullptr;
    std::string name;  // "" if the kind has no names
    // invalid as a section, but its values are still checked so that all problems are reported at once
    bool refused = false;
    struct Piece {
        std::size_t source = 0;  // index of the source
        const GivenSection* section = nullptr;
    };
    std::vector<Piece> pieces;  // at least one, in the order of sources
};

/// Returns the groups in the order of their first occurrence. Unknown, misnamed, duplicate and surplus sections are
/// problems. The sources must outlive the groups.
[[nodiscard]] std::vector<SectionGroup> group_sections(const std::vector<SettingsSource>& sources,
                                                       ProblemList& problems);

}  // namespace telegate
