#pragma once

#include <cstdint>
#include <string_view>

namespace telegate {

/// What a device is doing.
enum class DeviceState : std::uint8_t {
    idle,       // stopped: not read
    measuring,  // read at its interval, last read good
    error,      // read at its interval, last read failed
    safe,       // failed too often in a row: not read; only a reset leaves this state
};

[[nodiscard]] std::string_view to_string(DeviceState state) noexcept;

}  // namespace telegate
