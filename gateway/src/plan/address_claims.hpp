#pragma once

#include "config/load.hpp"

#include <string>
#include <vector>

namespace telegate {

/// Adds a problem for each setting that uses the same address as an earlier one: the same port at the same address or
/// at all addresses, or the same file, whatever its spelling. The settings are [gateway] state_file and record,
/// [logging] file, [rest] listen and unix_socket, the endpoints, and of devices record, the address of udp and the
/// serial line of serial and modbus.
void check_addresses(const Settings& settings, std::vector<SettingsProblem>& problems);

/// Returns a text that is the same for all spellings of a path, whether or not the file exists.
[[nodiscard]] std::string file_identity(const std::string& path);

}  // namespace telegate
