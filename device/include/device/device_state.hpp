#pragma once

#include <cstdint>
#include <string_view>

namespace telegate {

/// The state of a device.
enum class DeviceState : std::uint8_t {
    idle,       // stopped: not read
    measuring,  // read at its interval; the last reading succeeded
    error,      // read at its interval; the last reading failed
    safe,       // failed too often in a row: not read until it is reset
};

[[nodiscard]] std::string_view to_string(DeviceState state) noexcept;

}  // namespace telegate
