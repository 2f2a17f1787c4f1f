#pragma once

#include "config/load.hpp"
#include "config/settings.hpp"
#include "device/driver_row.hpp"
#include "device/processing.hpp"
#include "durable/durable_log.hpp"
#include "encode/labels.hpp"
#include "http/rest_options.hpp"
#include "uplinks/uplinks.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace telegate {

/// Each of these plans one kind of section, and adds a problem for every setting that cannot work. Threads: any.

/// Returns the options of the durable log. A device that plays this log is a problem.
[[nodiscard]] DurableLogOptions plan_log(const Settings& settings, std::vector<SettingsProblem>& problems);
[[nodiscard]] SharedLabels plan_labels(const Settings& settings, std::vector<SettingsProblem>& problems);
[[nodiscard]] std::vector<UplinkOptions> plan_uplinks(const Settings& settings, std::vector<SettingsProblem>& problems);
/// Also checks the files, so --check reports the same problems as a start.
[[nodiscard]] RestOptions plan_rest(const Settings& settings, std::vector<SettingsProblem>& problems);
/// Plans the processing of the channels of one device. Channels without settings are omitted.
[[nodiscard]] ProcessingPlan plan_processing(DeviceChannels channels, std::vector<SettingsProblem>& problems);

/// Adds a problem for each setting that uses the same address as an earlier one: the same port at the same address or
/// at all addresses, or the same file, whatever its spelling. The settings are [gateway] state_file, [log] path,
/// [logging] file, [rest] listen and unix_socket, the endpoints, and of devices the address of udp and the serial line
/// of serial and modbus.
void check_addresses(const Settings& settings, std::vector<SettingsProblem>& problems);
/// Returns the duration as a setting in ms has it.
[[nodiscard]] inline std::string ms_text(Duration duration) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}
/// Returns a text that is the same for all spellings of a path, whether or not the file exists.
[[nodiscard]] std::string file_identity(const std::string& path);

}  // namespace telegate
