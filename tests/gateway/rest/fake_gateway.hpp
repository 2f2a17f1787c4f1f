#pragma once

#include "gateway/live/live_harness.hpp"
#include "rest/rest_server.hpp"
#include "status/status_json.hpp"

#include <atomic>
#include <climits>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace telegate::test {

/// Two devices, "host" and "boiler", that accept commands like the sampler, and the objects that REST uses. Threads:
/// commands and snapshots any, the rest one.
class FakeGateway {
  public:
    RestHandlers handlers() {
        RestHandlers handlers;
        handlers.snapshot = [this] {
            return answering ? std::optional(snapshot) : std::nullopt;
        };
        handlers.status_body = [this] {
            return answering ? std::make_shared<const std::string>(status_json(snapshot)) : nullptr;
        };
        handlers.role_without_credentials = [](const HttpRequest& request) {
            return request.role;
        };
        handlers.http = [] {
            return HttpFigures{};
        };
        handlers.shown_devices = [this] {
            return shown_devices(snapshot, true);
        };
        handlers.shown_device = [this](std::string_view name) -> std::optional<ShownDevice> {
            for (ShownDevice& shown : shown_devices(snapshot, true)) {
                if (shown.device.name == name) {
                    return std::move(shown);
                }
            }
            return std::nullopt;
        };
        handlers.copy_last = [this](ChannelId channel, TelemetrySample& out) {
            const auto found = last_samples.find(channel);
            out = found == last_samples.end() ? out : found->second;
            return found != last_samples.end();
        };
        handlers.catch_up = [] {
        };
        handlers.subscribers = [this] {
            return answering ? std::optional(snapshot.subscribers) : std::nullopt;
        };
        handlers.log = [this] {
            return snapshot.log;
        };
        handlers.uptime = [this] {
            return snapshot.uptime;
        };
        handlers.devices = [] {
            return std::vector<std::string>{"host", "boiler"};
        };
        handlers.command = [this](std::string_view device, DeviceCommand command) {
            return answering ? std::optional(obey(device, command)) : std::nullopt;
        };
        handlers.uplinks = [] {
            return std::vector<UplinkReport>(1);
        };
        handlers.uplink_commands = &uplinks;
        handlers.health = [this] {
            return health;
        };
        handlers.close_subscriber = [this](PayloadFormat format, std::uint64_t id) {
            return answering ? std::optional(format == PayloadFormat::json && id == 3) : std::nullopt;
        };
        handlers.published_from = published_from;
        handlers.log_change = [this](const LogLine& line) {
            const std::lock_guard lock(mutex_);
            changes.push_back(line.text());
            changes_as_json.push_back('{' + line.json_members(PIPE_BUF) + '}');
        };
        handlers.log_refused = [this](std::string_view, const LogLine& line) {
            const std::lock_guard lock(mutex_);
            changes.push_back(line.text());
            changes_as_json.push_back('{' + line.json_members(PIPE_BUF) + '}');
        };
        handlers.sample_text = &sample_text;
        handlers.history = &history;
        handlers.events = &events;
        handlers.alarms = &alarms;
        handlers.ledger = &ledger;
        handlers.streams = &streams;
        handlers.log_level = &log_level;
        handlers.traffic = &traffic;
        handlers.settings = &config.live;
        return handlers;
    }

    void put(const std::string& device, DeviceState state) {
        const std::lock_guard lock(mutex_);
        states_[device] = state;
    }
    DeviceState state(const std::string& device) {
        const std::lock_guard lock(mutex_);
        return states_[device];
    }

    std::atomic<bool> answering{true};
    StatusSnapshot snapshot;  // its state when a server is created from this or a route is called
    std::map<ChannelId, TelemetrySample> last_samples;
    Health health;
    std::vector<std::string> changes;  // as logged
    std::vector<std::string> changes_as_json;
    std::function<std::optional<std::uint64_t>(std::int64_t, std::uint64_t, std::int64_t)> published_from;
    std::atomic<int> streams_opened{0};
    SystemClock clock;
    EventLog events{clock};
    Alarms alarms{events};
    ChannelTable channels;
    Ledger ledger{4, channels};
    SampleText sample_text{channels, 1'795'217'494'123};
    History history{1'024 * sizeof(TelemetrySample)};
    EventStreams streams{[this] { ++streams_opened; },
                         [] {
                         }};
    Reactor reactor;
    Log log{"off"};
    LogLevel log_level{reactor, log, "info"};
    RestTraffic traffic;
    LiveHarness config;
    Uplinks uplinks{{clock, log, "", {}}, {}};

  private:
    CommandResult obey(std::string_view device, DeviceCommand command) {
        const std::lock_guard lock(mutex_);
        DeviceState& state = states_[std::string(device)];
        if (command == DeviceCommand::reset) {
            state = state == DeviceState::safe ? DeviceState::idle : state;
            return {state, true};
        }
        if (state == DeviceState::safe) {
            return {state, false};
        }
        state = command == DeviceCommand::start ? DeviceState::measuring : DeviceState::idle;
        return {state, true};
    }

    std::mutex mutex_;
    std::map<std::string, DeviceState> states_;
};

}  // namespace telegate::test
