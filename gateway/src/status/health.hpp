#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// One thing that was looked at.
struct HealthCheck {
    std::string_view name;  // a literal: "sampling", "pump", "endpoints", ...
    bool good = true;
    /// Whether a failure means that the process had better be restarted, beyond not being ready.
    bool vital = false;
    std::string detail;  // for a person, why it is not good; "" otherwise
    /// Whether a failure is shown only: the gateway serves all the rest, and taking it out of service helps nobody.
    bool is_warning = false;
};

/// Whether the gateway works, and if not, what does not.
struct Health {
    std::vector<HealthCheck> checks;

    /// Whether a restart would not help.
    [[nodiscard]] bool alive() const noexcept {
        return std::none_of(checks.begin(), checks.end(), [](const auto& check) { return check.vital && !check.good; });
    }
    /// Whether it can serve: no check has failed but warnings.
    [[nodiscard]] bool ready() const noexcept {
        return std::all_of(checks.begin(), checks.end(),
                           [](const auto& check) { return check.good || check.is_warning; });
    }
};

}  // namespace telegate
