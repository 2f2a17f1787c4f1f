#pragma once

#include "config/payload_format.hpp"
#include "device/sampler.hpp"
#include "encode/sample_text.hpp"
#include "events/alarms.hpp"
#include "events/events.hpp"
#include "http/http_budget.hpp"
#include "http/http_message.hpp"
#include "line/history.hpp"
#include "log/log_level.hpp"
#include "log/log_line.hpp"
#include "rest/event_streams.hpp"
#include "rest/rest_config.hpp"
#include "rest/rest_traffic.hpp"
#include "status/health.hpp"
#include "status/status.hpp"

#include <cstdint>
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

/// What the REST server asks of the gateway. Called on `tg-http` threads, `snapshot` and `status_body` on `tg-status`
/// too; each must be callable by several at once.
struct RestHandlers {
    /// nullopt: the gateway did not answer in time.
    std::function<std::optional<StatusSnapshot>()> snapshot;
    /// Names of all devices, in order.
    std::function<std::vector<std::string>()> devices;
    /// One known device. nullopt: no answer in time.
    std::function<std::optional<CommandResult>(std::string_view device, DeviceCommand)> command;
    std::function<Health()> health;
    /// Closes one subscriber of a format. false: there is none of this number; nullopt: no answer in time.
    std::function<std::optional<bool>(PayloadFormat format, std::uint64_t id)> close_subscriber;
    /// Samples published after a position of a past epoch, before this one began. nullopt: that is not known.
    std::function<std::optional<std::uint64_t>(std::int64_t epoch_ms, std::uint64_t position)> published_after = {};
    /// A line for the log: who has changed what. Each is written.
    std::function<void(const LogLine& line)> log_change;
    /// And what he may not change: so many a minute as a peer is granted.
    std::function<void(std::string_view who, const LogLine& line)> log_refused;

    // Parts that any thread may use. They outlive the server.
    SampleText* sample_text = nullptr;
    const History* history = nullptr;
    const EventLog* events = nullptr;
    Alarms* alarms = nullptr;
    const Ledger* ledger = nullptr;
    EventStreams* streams = nullptr;
    LogLevel* log_level = nullptr;
    RestTraffic* traffic = nullptr;
    ConfigHandlers config;
    /// The body of GET /status, shared by all who ask within a moment. Set by the REST server itself.
    /// nullptr: no answer in time.
    std::function<std::shared_ptr<const std::string>()> status_body = {};
    /// The role that the sender of a request has without a token or a certificate. Set by the REST server itself.
    std::function<HttpRole(const HttpRequest& request)> role_without_credentials = {};
    /// What the server of all this counts. Set by the REST server itself.
    std::function<HttpFigures()> http = {};
};

}  // namespace telegate
