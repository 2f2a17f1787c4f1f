#pragma once

#include "config/given_settings.hpp"
#include "problem_list.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace telegate {

/// All that the sources give to one section of the settings.
struct SectionGroup {
    const SectionRow* row = nullptr;
    std::string name;      // "" where there is one such section only
    bool refused = false;  // it cannot be had, but its values are checked, so that all problems show at once
    struct Piece {
        std::size_t source = 0;  // its place in the order of sources
        const GivenSection* section = nullptr;
    };
    std::vector<Piece> pieces;  // at least one, in the order of sources
};

/// The groups in the order in which each is first given. Sections that are unknown, misnamed, given twice or too many
/// are problems. The sources must outlive the groups.
[[nodiscard]] std::vector<SectionGroup> group_sections(const std::vector<SettingsSource>& sources,
                                                       ProblemList& problems);

}  // namespace telegate
