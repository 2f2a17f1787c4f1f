#pragma once

#include "device/sampler.hpp"
#include "health.hpp"
#include "http_message.hpp"
#include "status.hpp"

#include <functional>
#include <memory>
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
    /// After each request that may change something, with the status of its answer, for the log. None: it is not told.
    std::function<void(const HttpRequest&, int status)> log_change = {};
    /// The body of GET /status, shared by all who ask within a moment. Set by the REST server itself.
    /// nullptr: no answer in time.
    std::function<std::shared_ptr<const std::string>()> status_body = {};
};

}  // namespace telegate
