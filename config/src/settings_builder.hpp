#pragma once

#include "config/given_settings.hpp"
#include "problem_list.hpp"

#include <vector>

namespace telegate {

/// Implements settings_from(). Problems are added to `problems`; the result is only usable if there are none.
[[nodiscard]] Settings build_settings(const std::vector<SettingsSource>& sources, Notation notation,
                                      ProblemList& problems);

}  // namespace telegate
