#pragma once

#include "config/payload_format.hpp"
#include "device/sampler.hpp"
#include "durable/log_history.hpp"
#include "encode/json_encoder.hpp"
#include "events/alarms.hpp"
#include "events/events.hpp"
#include "http/http_budget.hpp"
#include "http/http_message.hpp"
#include "line/history.hpp"
#include "live/live_settings.hpp"
#include "log/log_level.hpp"
#include "log/log_line.hpp"
#include "rest/event_streams.hpp"
#include "rest/rest_traffic.hpp"
#include "status/health.hpp"
#include "status/status.hpp"
#include "status/status_parts.hpp"

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

/// The operations that the REST server needs from the gateway. Each resource uses those of its own part, because the
/// I/O thread publishes nothing while it takes a snapshot. Called on `tg-http` threads, `snapshot` and
/// `status_body` also on `tg-status`; each must be callable by several at once.
struct RestHandlers {
    /// Takes a snapshot. nullopt: the gateway did not respond in time.
    std::function<std::optional<StatusSnapshot>()> snapshot;
    /// Return the status of all devices, in order, or of one; nullopt: it does not exist.
    std::function<std::vector<ShownDevice>()> shown_devices;
    std::function<std::optional<ShownDevice>(std::string_view device)> shown_device;
    /// See Pump::copy_last().
    std::function<bool(ChannelId channel, TelemetrySample& out)> copy_last;
    /// Publishes samples that the low-power mode left in the queue, if the gateway is able to soon.
    std::function<void()> catch_up;
    /// Returns the connected subscribers. nullopt: the gateway did not respond in time.
    std::function<std::optional<std::vector<SubscriberStatus>>()> subscribers;
    /// Returns the status of the durable log. nullopt: there is none.
    std::function<std::optional<DurableLogStatus>()> log;
    /// Returns the time since the start.
    std::function<Duration()> uptime;
    /// Returns the names of all devices, in order.
    std::function<std::vector<std::string>()> devices;
    /// Sends a command to a known device. nullopt: no response in time.
    std::function<std::optional<CommandResult>(std::string_view device, DeviceCommand)> command;
    std::function<Health()> health;
    std::function<std::vector<UplinkReport>()> uplinks;
    Uplinks* uplink_commands = nullptr;  // any thread may use it
    /// Closes a subscriber of a format. false: there is no subscriber with this id; nullopt: no response in time.
    std::function<std::optional<bool>(PayloadFormat format, std::uint64_t id)> close_subscriber;
    /// Returns the number of samples published from a position of a past epoch on, before a later epoch began. nullopt:
    /// unknown.
    std::function<std::optional<std::uint64_t>(std::int64_t epoch_ms, std::uint64_t position, std::int64_t before_ms)>
        published_from = {};
    /// Logs who changed what. All lines are written.
    std::function<void(const LogLine& line)> log_change;
    /// Logs a refused request; the number of lines per minute is limited for each peer.
    std::function<void(std::string_view who, const LogLine& line)> log_refused;

    // Objects that any thread may use. They must outlive the server.
    SampleText* sample_text = nullptr;
    const History* history = nullptr;
    LogHistory* log_history = nullptr;  // null: there is no durable log
    const EventLog* events = nullptr;
    Alarms* alarms = nullptr;
    const Ledger* ledger = nullptr;
    EventStreams* streams = nullptr;
    LogLevel* log_level = nullptr;
    RestTraffic* traffic = nullptr;
    LiveSettings* settings = nullptr;
    /// Returns the body of GET /status, shared by requests within a short time. Set by the REST server itself. nullptr:
    /// no response in time.
    std::function<std::shared_ptr<const std::string>()> status_body = {};
    /// Returns the role that the sender of a request has without a token or a certificate. Set by the REST server
    /// itself.
    std::function<HttpRole(const HttpRequest& request)> role_without_credentials = {};
    /// Returns the counters of the HTTP server. Set by the REST server itself.
    std::function<HttpFigures()> http = {};
};

}  // namespace telegate
