#include "device/device_state.hpp"

namespace telegate {

std::string_view to_string(DeviceState state) noexcept {
    switch (state) {
        case DeviceState::idle: return "idle";
        case DeviceState::measuring: return "measuring";
        case DeviceState::error: return "error";
        case DeviceState::safe: return "safe";
    }
    return "";
}

}  // namespace telegate
