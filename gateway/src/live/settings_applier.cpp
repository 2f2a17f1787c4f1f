#include "live/settings_applier.hpp"

#include "base/call_on_reactor.hpp"
#include "config/load.hpp"
#include "device/common_settings.hpp"
#include "events/device_events.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

/// Returns whether the section of a channel has nothing but tags, or does not exist.
bool has_only_tags(const Settings& settings, std::string_view channel) {
    const auto found = std::find_if(settings.channels.begin(), settings.channels.end(),
                                    [&](const ChannelSettings& each) { return each.name == channel; });
    return found == settings.channels.end() || (found->places.size() == 1 && found->places.contains("tags"));
}

/// Returns whether the driver of this device must be recreated. Drivers use the settings of their channels, but not
/// tags and those that every device has; the sampler does.
bool is_about_driver(const SettingsApplier::Wanted& wanted, const SettingChange& change, const std::string& device) {
    if (change.section == "channel") {
        const bool is_about_tags =
            change.kind == SettingChange::Kind::changed
                ? change.key == "tags"
                : has_only_tags(wanted.from, change.name) && has_only_tags(wanted.to, change.name);
        return change.name.starts_with(device + '/') && !is_about_tags;
    }
    const auto rows = common_rows();
    const bool is_common = std::any_of(rows.begin(), rows.end(), [&](const SettingRow& row) {
        return row.section == "device" && row.key == change.key;
    });
    return change.section == "device" && change.name == device && (!is_common || change.key == "driver");
}

const DeviceSettings* find_device(const Settings& settings, std::string_view name) {
    const auto found = std::find_if(settings.devices.begin(), settings.devices.end(),
                                    [&](const DeviceSettings& each) { return each.name == name; });
    return found == settings.devices.end() ? nullptr : &*found;
}

bool is_sampled_alike(const DeviceOptions& a, const DeviceOptions& b) {
    return a.interval == b.interval && a.alignment == b.alignment && a.offset == b.offset &&
           a.errors_before_safe == b.errors_before_safe && a.breaker == b.breaker && a.started == b.started;
}

HistoryLimits history_limits(const Settings& settings) {
    return {static_cast<std::size_t>(settings.history_bytes), std::chrono::milliseconds(settings.history_age_ms),
            static_cast<std::size_t>(settings.history_per_channel)};
}

constexpr const char* late_io = "the I/O thread did not respond in time";

bool concerns(const std::vector<SettingChange>& changes, std::string_view section) {
    return std::any_of(changes.begin(), changes.end(),
                       [&](const SettingChange& change) { return change.section == section; });
}

}  // namespace

PlannedChange plan_change(const Settings& from, const Settings& to, const std::vector<SettingChange>& changes) {
    const auto keeps_driver = [&](const DeviceSettings& device) {
        return std::none_of(changes.begin(), changes.end(), [&](const SettingChange& change) {
            return is_about_driver({from, to, changes}, change, device.name);
        });
    };
    PlannedChange planned{make_plan(to, keeps_driver), {}};
    for (PlannedDevice& device : planned.plan.devices) {
        if (device.driver != nullptr) {
            planned.devices.set.push_back(
                {std::move(device.options), std::move(device.driver), std::move(device.processing)});
        } else if (!is_sampled_alike(device.options, device_options(from, *find_device(from, device.options.name)))) {
            planned.devices.adjusted.push_back(std::move(device.options));
        }
    }
    for (const DeviceSettings& before : from.devices) {
        if (find_device(to, before.name) == nullptr) {
            planned.devices.removed.push_back(before.name);
        }
    }
    return planned;
}

std::string SettingsApplier::change(const Wanted& wanted) {
    PlannedChange planned = plan_change(wanted.from, wanted.to, wanted.changes);
    if (!wanted.may_remove_data && parts_.log != nullptr) {
        if (auto problems = parts_.log->removals(planned.plan.log.limits); !problems.empty()) {
            throw SettingsError(std::move(problems));
        }
    }
    if (wanted.dry_run) {
        return "";
    }
    const HistoryLimits history = history_limits(wanted.to);
    const auto history_buffer = history == history_limits(wanted.from) ? nullptr : parts_.history.prepare(history);
    const Endpoints endpoints = bind(wanted, planned);
    parts_.alarms.expect(wanted.to);
    try {
        change_devices(std::move(planned.devices));
    } catch (const std::exception& error) {
        const std::string lost = endpoints.empty() ? "" : roll_back(endpoints);
        if (lost.empty()) {
            throw;
        }
        throw std::runtime_error(std::string(error.what()) + "; " + lost);
    }
    parts_.alarms.retain(wanted.to);
    const std::size_t capacity = planned.plan.queue_capacity;
    capacity == 0 ? parts_.queue.follow_needs() : parts_.queue.resize(capacity);
    parts_.sampler.check_queue();
    parts_.queue.set_policy(planned.plan.queue_policy);
    if (parts_.log != nullptr) {
        parts_.log->change(planned.plan.log);
    }
    change_uplinks(wanted, planned.plan, change_labels(planned.plan.labels));
    if (history_buffer != nullptr) {
        parts_.reactor.post([&changed = parts_.history, history_buffer] { changed.replace(history_buffer); });
    }
    if (wanted.from.heartbeat_ms != wanted.to.heartbeat_ms) {
        parts_.reactor.post(
            [&heartbeats = parts_.heartbeats, interval = std::chrono::milliseconds(wanted.to.heartbeat_ms)] {
                heartbeats.set_interval(interval);
            });
    }
    if (wanted.from.log_level != wanted.to.log_level) {  // otherwise keep a temporary log level
        parts_.log_level.set(wanted.to.log_level, std::nullopt, "settings");
    }
    return endpoints.empty() ? "" : publish(endpoints);
}

/// Returns whether they differ from those in force.
bool SettingsApplier::change_labels(const SharedLabels& labels) {
    if (*labels == *parts_.sample_text.labels()) {
        return false;
    }
    parts_.sample_text.set_labels(labels);
    parts_.reactor.post([&feeds = parts_.format_feeds, labels] { feeds.set_labels(labels); });
    parts_.uplinks.set_labels(labels);
    return true;
}

/// Uplinks with other labels continue as new ones, because labels determine their messages.
void SettingsApplier::change_uplinks(const Wanted& wanted, const Plan& plan, bool has_other_labels) {
    if (has_other_labels || concerns(wanted.changes, "uplink")) {
        parts_.uplinks.change(plan.uplinks, [&](const std::string& name) {
            return has_other_labels ||
                   std::any_of(wanted.changes.begin(), wanted.changes.end(), [&](const SettingChange& change) {
                       return change.section == "uplink" && change.name == name;
                   });
        });
    }
}

SettingsApplier::Endpoints SettingsApplier::bind(const Wanted& wanted, const PlannedChange& planned) {
    Endpoints endpoints;
    const bool any = concerns(wanted.changes, "publish") || concerns(wanted.changes, "services");
    if (any && !call_on_reactor(
                   parts_.reactor, [&] { bind_now(endpoints, wanted, planned); }, answer_time_max)) {
        throw std::runtime_error(late_io);
    }
    return endpoints;
}

void SettingsApplier::bind_now(Endpoints& endpoints, const Wanted& wanted, const PlannedChange& planned) {
    if (concerns(wanted.changes, "publish")) {
        endpoints.publish = parts_.publishers.prepare(planned.plan.publish);
    }
    if (!concerns(wanted.changes, "services")) {
        return;
    }
    try {
        endpoints.services = parts_.services.prepare(planned.plan.services);
    } catch (const std::exception& error) {
        const std::vector<std::string> lost = roll_back_on_reactor(parts_, endpoints);
        if (lost.empty()) {
            throw;
        }
        throw std::runtime_error(std::string(error.what()) + "; also no longer bound: " + lost.front());
    }
}

void SettingsApplier::change_devices(DeviceChange change) {
    if (change.empty()) {
        return;
    }
    for (DeviceChange::NewDriver& each : change.set) {
        publish_events(*each.driver, each.options.name, parts_.events);
        parts_.alarms.continue_in(each.processing, each.options.name);
    }
    const auto prepared = parts_.sampler.prepare(std::move(change));
    if (!parts_.sampling_threads.run_change(prepared, answer_time_max)) {
        throw std::runtime_error("the sampling thread did not respond in time");
    }
}

/// Returns endpoints that are now unbound. Thread: the reactor's.
std::vector<std::string> SettingsApplier::roll_back_on_reactor(const Parts& parts, const Endpoints& endpoints) {
    std::vector<std::string> lost;
    if (endpoints.publish != nullptr) {
        lost = parts.publishers.roll_back(*endpoints.publish);
    }
    if (endpoints.services != nullptr) {
        for (std::string& each : parts.services.roll_back(*endpoints.services)) {
            lost.push_back(std::move(each));
        }
    }
    return lost;
}

/// Returns the failures of the rollback; "" if there are none.
std::string SettingsApplier::roll_back(const Endpoints& endpoints) {
    std::vector<std::string> lost;
    if (!call_on_reactor(
            parts_.reactor, [&] { lost = roll_back_on_reactor(parts_, endpoints); }, answer_time_max)) {
        parts_.reactor.post([parts = parts_, endpoints] { (void)roll_back_on_reactor(parts, endpoints); });
        return std::string(late_io) + ": new endpoints will be closed when it does";
    }
    return lost.empty() ? "" : "no longer bound: " + lost.front();
}

std::string SettingsApplier::publish(const Endpoints& endpoints) {
    const auto call = [parts = parts_, endpoints] {
        if (endpoints.publish != nullptr) {
            parts.publishers.apply(*endpoints.publish, leaving_grace);
            parts.on_formats();
        }
        if (endpoints.services != nullptr) {
            parts.services.apply(*endpoints.services, leaving_grace);
        }
    };
    if (call_on_reactor(parts_.reactor, call, answer_time_max)) {
        return "";
    }
    parts_.reactor.post(call);
    return std::string(late_io) + ": endpoints will be updated when it does";
}

}  // namespace telegate
