#pragma once

#include "device/sampler.hpp"
#include "health.hpp"
#include "rest_config.hpp"
#include "status.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The state of one device after a command.
struct DeviceAnswer {
    std::string device;
    CommandResult result;
};

/// What the REST server asks of the gateway. Called on `tg-http` threads; each must be callable by several at once.
struct RestHandlers {
    /// nullopt: the gateway did not answer in time.
    std::function<std::optional<StatusSnapshot>()> snapshot;
    /// Names of all devices, in order.
    std::function<std::vector<std::string>()> devices;
    /// One known device. nullopt: no answer in time.
    std::function<std::optional<CommandResult>(std::string_view device, DeviceCommand)> command;
    std::function<Health()> health;
    ConfigHandlers config;
};

}  // namespace telegate
