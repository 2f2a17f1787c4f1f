#pragma once

#include "config/given_settings.hpp"
#include "problem_list.hpp"

#include <vector>

namespace telegate {

/// The work of settings_from(). What is wrong goes to `problems`; the result is only of use when there are none.
[[nodiscard]] LoadedSettings build_settings(const std::vector<SettingsSource>& sources, Notation notation,
                                            ProblemList& problems);

}  // namespace telegate
