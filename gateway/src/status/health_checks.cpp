#include "status/health_checks.hpp"

#include "config/joined.hpp"
#include "core/publisher.hpp"
#include "encode/time_text.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace telegate {
namespace {

std::string ms_text(Duration time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + " ms";
}

/// Fails the check, for one more reason.
void fail(HealthCheck& check, const std::string& detail) {
    check.detail += (check.good ? "" : "; ") + detail;
    check.good = false;
}

}  // namespace

HealthCheck check_sampling(const SamplingThreads& thread, const Sampler& sampler, MonoTime now) {
    HealthCheck check{.name = "sampling", .vital = true, .detail = ""};
    const Duration overdue = thread.overdue(now);
    if (overdue < stuck_after) {
        return check;
    }
    check.good = false;
    check.vital = !sampler.waits_for_room();
    check.detail = check.vital ? "tg-sample is " + ms_text(overdue) + " behind its deadline"
                               : "tg-sample has waited " + ms_text(overdue) + " for space in the queue";
    return check;
}

HealthCheck check_pump(const PumpReport& report) {
    HealthCheck check{.name = "pump", .vital = true, .detail = ""};
    if (report.silent > Duration(0)) {
        check.vital = report.silent >= stuck_after;
        fail(check, "tg-io has not responded for " + ms_text(report.silent));
    } else if (report.stalled >= stuck_after) {
        fail(check, "nothing was taken from the queue for " + ms_text(report.stalled));
    }
    return check;
}

HealthCheck check_devices(const Sampler& sampler) {
    HealthCheck check{.name = "devices", .detail = "", .is_warning = true};
    for (const DeviceId id : sampler.devices()) {
        const DeviceState state = sampler.state(id);
        if (state == DeviceState::error || state == DeviceState::safe) {
            const DeviceStatus status = sampler.status(id);
            fail(check, status.name + " is in state " + std::string(to_string(state)) +
                            (status.last_error.empty() ? "" : " (" + status.last_error + ')'));
        }
    }
    return check;
}

HealthCheck check_stopped(const Sampler& sampler) {
    HealthCheck check{.name = "stopped", .detail = "", .is_warning = true};
    for (const DeviceId id : sampler.devices()) {
        if (sampler.state(id) != DeviceState::idle) {
            continue;
        }
        if (const DeviceStatus status = sampler.status(id); status.is_stopped()) {
            fail(check, status.name + " has been stopped since " + to_iso8601(status.state_since_utc_ns));
        }
    }
    return check;
}

HealthCheck check_channels(const BadChannels& bad) {
    HealthCheck check{.name = "channels", .good = bad.count == 0, .detail = "", .is_warning = true};
    check.detail = bad.named.empty() ? "" : "channels without a good value: " + joined(bad.named);
    if (bad.count > bad.named.size()) {
        check.detail += " and " + std::to_string(bad.count - bad.named.size()) + " more";
    }
    return check;
}

namespace {

/// Returns why a log is not written as its settings require; "": it is.
std::string fault_of(const DurableLogStatus& log) {
    if (!log.error.empty()) {
        return log.path + " cannot be written: " + log.error;
    }
    switch (log.log.space_problem) {
        case store::SpaceProblem::none: break;
        case store::SpaceProblem::no_gain:
            return log.path + " keeps its segments on a full disk: removing some has given no space";
        case store::SpaceProblem::undelivered:
            return log.path + " keeps its segments on a full disk: an uplink has not delivered them";
    }
    return log.log.is_full ? log.path + " is full" : "";
}

}  // namespace

HealthCheck check_channel_table(const ChannelTable& channels) {
    HealthCheck check{.name = "channel_table", .detail = "", .is_warning = true};
    if (const auto crowd = channels.crowd()) {
        fail(check, crowd->device + " has " + std::to_string(crowd->channels) + " of " +
                        std::to_string(ChannelTable::channels_max) + " channels, its share: new ones are refused");
    }
    if (channels.size() == ChannelTable::channels_max && channels.refused() > 0) {
        check.is_warning = false;
        fail(check, "the table of " + std::to_string(ChannelTable::channels_max) + " channels is full");
    }
    return check;
}

HealthCheck check_uplinks(const std::vector<UplinkReport>& uplinks) {
    HealthCheck check{.name = "uplinks", .detail = ""};
    for (const UplinkReport& uplink : uplinks) {
        if (uplink.is_late()) {
            const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(uplink.lag).count();
            fail(check, uplink.name + " is " + std::to_string(seconds) + " s behind" +
                            (uplink.status.is_paused ? " and paused" : "") +
                            (uplink.status.error.empty() ? "" : ": " + uplink.status.error));
        }
    }
    return check;
}

HealthCheck check_log(const DurableLogStatus& log) {
    HealthCheck check{.name = "log", .detail = ""};
    if (const std::string fault = fault_of(log); !fault.empty()) {
        fail(check, fault);
    }
    return check;
}

HealthCheck check_channel_settings(const std::vector<std::string>& topics) {
    constexpr std::size_t topics_listed_max = 10;
    HealthCheck check{.name = "channel_settings", .good = topics.empty(), .detail = "", .is_warning = true};
    const auto listed = std::span(topics).first(std::min(topics.size(), topics_listed_max));
    check.detail = topics.empty() ? "" : "sections without a matching channel: " + joined(listed);
    if (topics.size() > topics_listed_max) {
        check.detail += " and " + std::to_string(topics.size() - topics_listed_max) + " more";
    }
    return check;
}

HealthCheck check_queue(const Sampler& sampler, MonoTime now) {
    HealthCheck check{.name = "queue", .detail = ""};
    for (const DeviceId id : sampler.devices()) {
        const std::optional<MonoTime> overflowed = sampler.overflowed_at(id);
        if (overflowed && now - *overflowed < loss_remembered_for) {
            fail(check, sampler.status(id).name + " is losing samples: the queue is full");
        }
    }
    return check;
}

void EndpointTrouble::record(const MonitorEvent& event) {
    const bool is_closed = event.kind == MonitorEventKind::disconnected;
    const bool no_subscription = is_closed && event.detail == too_many_subscriptions;
    const bool no_place =
        (is_closed && (event.detail == too_many_connections_of_client || event.detail == too_many_slow_subscribers)) ||
        (event.kind == MonitorEventKind::refused && event.detail == too_many_connections);
    if (event.kind != MonitorEventKind::accept_failed && !no_subscription && !no_place) {
        return;
    }
    const std::lock_guard lock(mutex_);
    last_ = clock_.mono_now();
    text_ = std::string(event.endpoint) +
            (no_subscription ? " cannot accept subscriptions: " : " cannot accept connections: ") +
            std::string(event.detail) + (no_place ? " (" + std::string(event.peer) + ')' : "");
}

void EndpointTrouble::set_crowd(PayloadFormat format, std::string crowd) {
    const std::lock_guard lock(mutex_);
    crowds_[static_cast<std::size_t>(format)] = std::move(crowd);
}

HealthCheck EndpointTrouble::check() const {
    HealthCheck check{.name = "endpoints", .detail = ""};
    const std::lock_guard lock(mutex_);
    if (!text_.empty() && clock_.mono_now() - last_ < remembered_for) {
        fail(check, text_);
    }
    for (const std::string& crowd : crowds_) {
        if (!crowd.empty()) {
            fail(check, crowd);
        }
    }
    return check;
}

HealthCheck check_rest(const std::string& crowd) {
    return {.name = "rest", .good = crowd.empty(), .detail = crowd, .is_warning = true};
}

}  // namespace telegate
