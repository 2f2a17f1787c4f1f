#pragma once

#include "config/load.hpp"
#include "config/settings.hpp"
#include "device/driver.hpp"
#include "device/option_error.hpp"

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace telegate {

/// What is said of the channels of one device.
using DeviceChannels = std::span<const ChannelSettings* const>;

/// The driver that the settings of a device ask for. Throws as drivers do.
[[nodiscard]] std::unique_ptr<Driver> make_driver(const DeviceSettings& device, DeviceChannels channels);

/// Adds the problem of an option of the device's driver, at the place of its setting.
void add_driver_problem(const DeviceSettings& device, DeviceChannels channels, const OptionError& error,
                        std::vector<SettingsProblem>& problems);

/// Throws OptionError for the first of these keys that is given for the channel, which its
/// driver would pass over without a word. `why` says what is missing and what is allowed.
void refuse_given(const ChannelSettings& channel, std::string_view driver, std::initializer_list<std::string_view> keys,
                  std::string_view why);

// make_driver() for each driver, in NAME_plan.cpp: settings turned into the options of the driver.
[[nodiscard]] std::unique_ptr<Driver> make_clock(const DeviceSettings& device, DeviceChannels channels);
[[nodiscard]] std::unique_ptr<Driver> make_gateway(const DeviceSettings& device, DeviceChannels channels);
[[nodiscard]] std::unique_ptr<Driver> make_iio(const DeviceSettings& device, DeviceChannels channels);
[[nodiscard]] std::unique_ptr<Driver> make_host(const DeviceSettings& device, DeviceChannels channels);
[[nodiscard]] std::unique_ptr<Driver> make_http(const DeviceSettings& device, DeviceChannels channels);
[[nodiscard]] std::unique_ptr<Driver> make_replay(const DeviceSettings& device, DeviceChannels channels);
[[nodiscard]] std::unique_ptr<Driver> make_simulated(const DeviceSettings& device, DeviceChannels channels);
[[nodiscard]] std::unique_ptr<Driver> make_serial(const DeviceSettings& device, DeviceChannels channels);
[[nodiscard]] std::unique_ptr<Driver> make_udp(const DeviceSettings& device, DeviceChannels channels);
[[nodiscard]] std::unique_ptr<Driver> make_exec(const DeviceSettings& device, DeviceChannels channels);
[[nodiscard]] std::unique_ptr<Driver> make_modbus(const DeviceSettings& device, DeviceChannels channels);

}  // namespace telegate
