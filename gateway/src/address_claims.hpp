#pragma once

#include "config/load.hpp"

#include <vector>

namespace telegate {

/// Adds a problem for each setting that wants an address which another one before it takes for itself: the same port at
/// the same address or at all addresses, the same file however it is spelt. These settings are [gateway]
/// state_file, [log] file, [rest] listen and unix_socket, and the endpoints.
void check_addresses(const Settings& settings, std::vector<SettingsProblem>& problems);

}  // namespace telegate
