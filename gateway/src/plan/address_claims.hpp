#pragma once

#include "config/load.hpp"

#include <string>
#include <vector>

namespace telegate {

/// Adds a problem for each setting that wants an address which another one before it takes for itself: the same port at
/// the same address or at all addresses, the same file however it is spelt. These settings are [gateway]
/// state_file and record, [log] file, [rest] listen and unix_socket, the endpoints, and of devices record, the address
/// of udp and the line of serial and modbus.
void check_addresses(const Settings& settings, std::vector<SettingsProblem>& problems);

/// The same text for the same file, whether it exists or not.
[[nodiscard]] std::string file_identity(const std::string& path);

}  // namespace telegate
