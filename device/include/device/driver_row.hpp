#pragma once

#include "config/driver_rows.hpp"
#include "config/section_problems.hpp"
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

/// What a device is read from, on this machine: a file, or else a UDP port.
struct DeviceAddress {
    std::string key = {};    // of the setting that says so
    std::string value = {};  // as it is written there
    std::string file = {};
    std::string host = {};
    std::uint16_t port = 0;
    bool is_shared = false;  // others may read it too
};

/// One driver: what its settings are and what becomes of them.
struct DriverRow {
    std::string_view name = {};
    std::span<const SettingRow> settings = {};
    /// Throws OptionError for a setting that is not allowed, std::exception for anything else.
    std::unique_ptr<Driver> (*make)(const DeviceSettings& device, DeviceChannels channels) = nullptr;

    // The rest is optional.
    std::optional<DeviceAddress> (*address)(const DeviceSettings& device) = nullptr;
    /// The recording that the device plays.
    std::string (*recording)(const DeviceSettings& device) = nullptr;
    /// The channels that the device has now, where that depends on the machine; nullopt: not known.
    std::optional<std::vector<std::string>> (*channels_now)(const DeviceSettings& device,
                                                            DeviceChannels channels) = nullptr;
    /// Adds warnings about settings that are allowed and probably wrong.
    void (*warn)(const DeviceSettings& device, DeviceChannels channels,
                 std::vector<SettingsProblem>& warnings) = nullptr;
    /// What makes a [channel] section define a channel: "a channel that is read needs an address"; "": nothing does.
    std::string_view (*needs)(const DeviceSettings& device) = nullptr;
};

/// All drivers, by name.
[[nodiscard]] std::span<const DriverRow* const> driver_table() noexcept;

/// Throws std::invalid_argument if there is no such driver.
[[nodiscard]] const DriverRow& find_driver(std::string_view name);

/// What the driver's row says of a device; nothing for a device without a driver.
[[nodiscard]] std::optional<DeviceAddress> address_of(const DeviceSettings& device);
[[nodiscard]] std::string recording_of(const DeviceSettings& device);

/// The channels that a driver has as soon as it is open. Makes a driver and opens it.
[[nodiscard]] std::vector<std::string> channels_at_open(const DeviceSettings& device, DeviceChannels channels);

/// Adds the problem of an option of the device's driver, at the place of its setting.
void add_driver_problem(const DeviceSettings& device, DeviceChannels channels, const OptionError& error,
                        std::vector<SettingsProblem>& problems);

/// Throws OptionError for the first of these keys that is given for the channel and that its driver would ignore. `why`
/// says what is missing and what is allowed.
void refuse_given(const ChannelSettings& channel, std::string_view driver, std::initializer_list<std::string_view> keys,
                  std::string_view why);

}  // namespace telegate
