#pragma once

#include <string>

namespace telegate {

/// docs/settings.md: how settings are given, and a table of each section.
[[nodiscard]] std::string settings_page();

}  // namespace telegate
