#pragma once

#include <string>

namespace telegate::reference {

/// Returns gateway.ini(5), generated from the settings table.
[[nodiscard]] std::string settings_manual();

}  // namespace telegate::reference
