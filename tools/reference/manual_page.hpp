#pragma once

#include <string>

namespace telegate::reference {

/// gateway.ini(5), from the settings table.
[[nodiscard]] std::string settings_manual();

}  // namespace telegate::reference
