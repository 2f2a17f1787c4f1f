#pragma once

#include "config/settings_table.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

namespace telegate::test {

/// Returns a driver setting of the device as written in a file.
inline std::string setting_of(DeviceSettings device, std::string_view key) {
    return value_text(*find_setting("device", key, device.driver), &device);
}
inline std::string setting_of(ChannelSettings channel, std::string_view driver, std::string_view key) {
    return value_text(*find_setting("channel", key, driver), &channel);
}

inline void set_key(DeviceSettings& device, std::string_view key, const std::string& text) {
    if (const auto fault = assign(*find_setting("device", key, device.driver), &device, text)) {
        throw std::invalid_argument(*fault);
    }
}

}  // namespace telegate::test
