#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The names of all checks. The checks of parts that are not configured are not made.
inline constexpr std::array<std::string_view, 13> health_check_names{
    "state",    "sampling",         "pump",          "queue", "endpoints", "log", "uplinks", "devices", "stopped",
    "channels", "channel_settings", "channel_table", "rest"};

/// The result of one health check.
struct HealthCheck {
    std::string_view name;  // one of health_check_names
    bool good = true;
    /// Whether a failure requires a restart of the process, in addition to making it not ready.
    bool vital = false;
    std::string detail;  // human-readable: why the check failed; "" otherwise
    /// Whether a failure is only reported: the rest of the gateway works, so it stays ready.
    bool is_warning = false;
};

/// The health of the gateway: the results of all checks.
struct Health {
    std::vector<HealthCheck> checks;

    /// Returns false if a restart is required.
    [[nodiscard]] bool alive() const noexcept {
        return std::none_of(checks.begin(), checks.end(), [](const auto& check) { return check.vital && !check.good; });
    }
    /// Returns whether the gateway is ready: no check has failed except warnings.
    [[nodiscard]] bool ready() const noexcept {
        return std::all_of(checks.begin(), checks.end(),
                           [](const auto& check) { return check.good || check.is_warning; });
    }
};

}  // namespace telegate
