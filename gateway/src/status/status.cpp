#include "status/status.hpp"

namespace telegate {

std::string_view to_string(GatewayState state) noexcept {
    switch (state) {
        case GatewayState::starting: return "starting";
        case GatewayState::running: return "running";
        case GatewayState::stopping: return "stopping";
    }
    return "";
}

}  // namespace telegate
