#include "app/gateway.hpp"

#include <string>
#include <string_view>
#include <vector>

// The functions of the gateway that REST calls.

namespace telegate {

RestHandlers Gateway::rest_handlers() {
    RestHandlers handlers;
    handlers.snapshot = [this] {
        return snapshot();
    };
    handlers.shown_devices = [this] {
        return shown_devices();
    };
    handlers.shown_device = [this](std::string_view name) {
        return shown_device(name);
    };
    handlers.copy_last = [this](ChannelId channel, TelemetrySample& out) {
        return pump_.copy_last(channel, out);
    };
    handlers.catch_up = [this] {
        catch_up();
    };
    handlers.subscribers = [this] {
        return subscribers();
    };
    handlers.log = [this] {
        return log_status();
    };
    handlers.uptime = [this] {
        return clock_.mono_now() - started_at_;
    };
    handlers.devices = [this] {
        std::vector<std::string> names;
        for (const DeviceId id : sampler_.devices()) {
            names.push_back(sampler_.status(id).name);
        }
        return names;
    };
    handlers.command = [this](std::string_view device, DeviceCommand what) {
        return command(device, what);
    };
    handlers.uplinks = [this] {
        return uplinks_.status();
    };
    handlers.uplink_commands = &uplinks_;
    handlers.health = [this] {
        return health();
    };
    handlers.close_subscriber = [this](PayloadFormat format, std::uint64_t id) {
        return close_subscriber(format, id);
    };
    handlers.published_from = [this](std::int64_t epoch_ms, std::uint64_t position, std::int64_t before_ms) {
        return state_file_.published_from(epoch_ms, position, before_ms);
    };
    handlers.log_change = [this](const LogLine& line) {
        log_.info_each(line);
    };
    handlers.log_refused = [this](std::string_view who, const LogLine& line) {
        log_.info_limited("rest refused " + std::string(who), line);
    };
    handlers.sample_text = &sample_text_;
    handlers.history = &consumers_.history;
    handlers.log_history = log_history_.get();
    handlers.events = &events_;
    handlers.alarms = &alarms_;
    handlers.ledger = &ledger_;
    handlers.streams = &consumers_.streams;
    handlers.log_level = &log_level_;
    handlers.traffic = &traffic_;
    handlers.settings = &live_settings_;
    return handlers;
}

}  // namespace telegate
