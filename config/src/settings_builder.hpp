#pragma once

#include "config/settings.hpp"
#include "ini_text.hpp"
#include "problem_list.hpp"

#include <vector>

namespace telegate {

/// Gives sections their meaning by the settings table. What is wrong goes to `problems`; the result is only of use
/// when there are none.
[[nodiscard]] Settings build_settings(const std::vector<IniSection>& sections, ProblemList& problems);

}  // namespace telegate
