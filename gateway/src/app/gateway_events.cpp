#include "app/gateway.hpp"
#include "base/build_info.hpp"
#include "events/device_events.hpp"

#include <string>

// Unsolicited reports of the gateway: events and health checks.

namespace telegate {

void Gateway::observe_devices() {
    sampler_.observe_with([this](const DeviceNews& news) { events_.add(to_event(news)); });
}

void Gateway::record_start() {
    events_.add({.time_utc_ns = clock_.utc_now_ns(),
                 .kind = EventKind::gateway_started,
                 .fields = LogFields()
                               .add("version", build_info::version)
                               .add("epoch", epoch_ms_)
                               .add("devices", sampler_.devices().size())});
}

Health Gateway::health() {
    Health health;
    const GatewayState state = state_;
    const bool runs = state == GatewayState::running;
    health.checks.push_back({.name = "state", .good = runs, .detail = runs ? "" : std::string(to_string(state))});
    health.checks.push_back(check_sampling(sampling_threads_, sampler_, clock_.mono_now()));
    health.checks.push_back(check_pump(io_thread_.joinable() ? pump_watch_.check(response_time_max) : PumpReport{}));
    health.checks.push_back(check_queue(sampler_, clock_.mono_now()));
    health.checks.push_back(endpoint_trouble_.check());
    if (consumers_.durable_log != nullptr) {
        health.checks.push_back(check_log(consumers_.durable_log->status()));
    }
    if (const std::vector<UplinkReport> uplinks = uplinks_.status(); !uplinks.empty()) {
        health.checks.push_back(check_uplinks(uplinks));
    }
    health.checks.push_back(check_devices(sampler_));
    health.checks.push_back(check_stopped(sampler_));
    health.checks.push_back(check_channels(channel_watch_.bad()));
    health.checks.push_back(check_channel_settings(unclaimed_sections_.unclaimed()));
    health.checks.push_back(check_channel_table(channels_));
    health.checks.push_back(check_rest(rest_.crowd()));
    return health;
}

}  // namespace telegate
