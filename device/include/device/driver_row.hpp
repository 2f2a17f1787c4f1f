#pragma once

#include "config/section_problems.hpp"
#include "config/setting_slot.hpp"
#include "config/type_rows.hpp"
#include "device/driver.hpp"
#include "device/option_error.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The [channel] sections of one device.
using DeviceChannels = std::span<const ChannelSettings* const>;

/// The local resource that a device reads: a file or a UDP port.
struct DeviceAddress {
    std::string key = {};    // the setting that defines it
    std::string value = {};  // as written in the setting
    std::string file = {};
    std::string host = {};
    std::uint16_t port = 0;
    bool is_shared = false;  // several devices can read it
};

/// One driver: its settings and its functions.
struct DriverRow {
    std::string_view name = {};
    std::span<const SettingRow> settings = {};
    /// Throws OptionError for an invalid setting, and std::exception for other errors.
    std::unique_ptr<Driver> (*make)(const DeviceSettings& device, DeviceChannels channels) = nullptr;

    // The rest is optional.
    std::optional<DeviceAddress> (*address)(const DeviceSettings& device) = nullptr;
    /// Returns the directory of the durable log that the device plays.
    std::string (*played_log)(const DeviceSettings& device) = nullptr;
    /// Returns the channels that the device has now, if they depend on the machine; nullopt: unknown.
    std::optional<std::vector<std::string>> (*channels_now)(const DeviceSettings& device,
                                                            DeviceChannels channels) = nullptr;
    /// Adds warnings about settings that are allowed but probably wrong.
    void (*warn)(const DeviceSettings& device, DeviceChannels channels,
                 std::vector<SettingsProblem>& warnings) = nullptr;
    /// Returns what makes a [channel] section define a channel, such as "a channel that is read needs an address"; "":
    /// nothing.
    std::string_view (*needs)(const DeviceSettings& device) = nullptr;
};

/// Throws std::invalid_argument if no driver has this name.
[[nodiscard]] const DriverRow& find_driver(std::string_view name);

/// Returns the resource or the played log of the device according to its driver; nothing for a device without a driver.
[[nodiscard]] std::optional<DeviceAddress> address_of(const DeviceSettings& device);
[[nodiscard]] std::string played_log_of(const DeviceSettings& device);

/// Returns the channels that the driver has after open(). Creates a driver and opens it.
[[nodiscard]] std::vector<std::string> channels_at_open(const DeviceSettings& device, DeviceChannels channels);

/// Adds the problem of a driver option, at the place of the setting.
void add_driver_problem(const DeviceSettings& device, DeviceChannels channels, const OptionError& error,
                        std::vector<SettingsProblem>& problems);

/// Throws OptionError for the first of `keys` that is set for the channel although its driver would ignore it. `why`
/// says what is missing and what is allowed.
void refuse_given(const ChannelSettings& channel, std::string_view driver, std::initializer_list<std::string_view> keys,
                  std::string_view why);

}  // namespace telegate
