#include "health_checks.hpp"

#include "core/publisher.hpp"

namespace telegate {
namespace {

std::string ms_text(Duration time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + " ms";
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
                               : "tg-sample has waited " + ms_text(overdue) + " for room in the queue";
    return check;
}

HealthCheck check_pump(const PumpReport& report) {
    HealthCheck check{.name = "pump", .vital = true, .detail = ""};
    if (report.silent > Duration(0)) {
        check.good = false;
        check.vital = report.silent >= stuck_after;
        check.detail = "tg-io has not answered for " + ms_text(report.silent);
    } else if (report.stalled >= stuck_after) {
        check.good = false;
        check.detail = "nothing was taken from the queue for " + ms_text(report.stalled);
    }
    return check;
}

HealthCheck check_devices(const Sampler& sampler) {
    HealthCheck check{.name = "devices", .detail = ""};
    for (const DeviceId id : sampler.devices()) {
        const DeviceState state = sampler.state(id);
        if (state == DeviceState::error || state == DeviceState::safe) {
            const DeviceStatus status = sampler.status(id);
            check.detail += (check.good ? "" : "; ") + status.name + " is in state " + std::string(to_string(state));
            check.detail += status.last_error.empty() ? "" : " (" + status.last_error + ')';
            check.good = false;
        }
    }
    return check;
}

HealthCheck check_recordings(const std::vector<RecorderStatus>& recorders) {
    HealthCheck check{.name = "recordings", .detail = ""};
    for (const RecorderStatus& recorder : recorders) {
        if (!recorder.error.empty()) {
            check.detail += (check.good ? "" : "; ") + recorder.path + " cannot be written: " + recorder.error;
            check.good = false;
        }
    }
    return check;
}

HealthCheck check_queue(const Ledger& ledger, const ChannelTable& channels, std::int64_t utc_now_ns) {
    constexpr auto overflow = static_cast<std::size_t>(DropReason::queue_overflow);
    HealthCheck check{.name = "queue", .detail = ""};
    const std::vector<Books> devices = ledger.cut();
    std::vector<bool> is_named(devices.size());
    for (std::size_t index = 0; index < channels.size(); ++index) {
        const auto channel = static_cast<ChannelId>(index);
        const ChannelInfo& info = channels.at(channel);
        const std::size_t device = to_index(info.device_id);
        if (devices[device].dropped[overflow] == 0 || is_named[device]) {
            continue;
        }
        const std::int64_t last = ledger.books_of(channel).drops[overflow].last_utc_ns;
        if (last + loss_remembered_for.count() > utc_now_ns) {
            check.detail += (check.good ? "" : "; ") + info.device + " loses samples, the queue is full";
            check.good = false;
            is_named[device] = true;
        }
    }
    return check;
}

void EndpointTrouble::note(const MonitorEvent& event) {
    const bool is_refusal = event.kind == MonitorEventKind::disconnected && event.detail == too_many_subscriptions;
    if (event.kind != MonitorEventKind::accept_failed && !is_refusal) {
        return;
    }
    const std::lock_guard lock(mutex_);
    last_ = clock_.mono_now();
    text_ = std::string(event.endpoint) +
            (is_refusal ? " cannot accept subscriptions: " : " cannot accept connections: ") +
            std::string(event.detail);
}

HealthCheck EndpointTrouble::check() const {
    HealthCheck check{.name = "endpoints", .detail = ""};
    const std::lock_guard lock(mutex_);
    if (!text_.empty() && clock_.mono_now() - last_ < remembered_for) {
        check.good = false;
        check.detail = text_;
    }
    return check;
}

}  // namespace telegate
