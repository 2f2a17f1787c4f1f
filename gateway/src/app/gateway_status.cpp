#include "app/gateway.hpp"

#include "base/call_on_reactor.hpp"
#include "log/log_line.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The status of the gateway: a snapshot of all parts, and the parts on their own. The I/O thread provides only what it
// owns, because it publishes nothing meanwhile.

namespace telegate {

UnclaimedSections::Parts Gateway::unclaimed_parts() {
    return {.reactor = reactor_,
            .clock = clock_,
            .channels = channels_,
            .is_measuring =
                [this](std::string_view device) {
                    const auto id = sampler_.find(device);
                    return id && sampler_.state(*id) == DeviceState::measuring;
                },
            .on_unclaimed =
                [this](const UnclaimedSection& section) {
                    LogLine line = LogLine("channel settings match no channel").add("section", section.topic);
                    if (!section.nearest.empty()) {
                        line.add("nearest", section.nearest);
                    }
                    log_.warn(section.others == 0 ? line : line.add("others", section.others));
                }};
}

StatusSnapshot Gateway::take_snapshot() const {
    StatusSnapshot snapshot;
    snapshot.state = state_;
    snapshot.epoch_ms = epoch_ms_;
    snapshot.labels = sample_text_.labels();
    snapshot.time_utc_ns = clock_.utc_now_ns();
    snapshot.uptime = clock_.mono_now() - started_at_;
    snapshot.clock = machine_clock_watch()->read();
    snapshot.queue_capacity = queue_.capacity();
    snapshot.queue_high_water = queue_.high_water();
    snapshot.queue_policy = queue_.policy();
    snapshot.sampling_schedule = sampling_threads_.schedule().in_force;
    snapshot.config = live_settings_.status();
    snapshot.previous_runs = state_file_.previous_runs();
    add_counts(snapshot);
    add_transport(snapshot);
    snapshot.rest_endpoint = rest_url();
    snapshot.services = services_.status();
    snapshot.sections_unclaimed = unclaimed_sections_.unclaimed();
    return snapshot;
}

std::optional<StatusSnapshot> Gateway::snapshot() {
    auto snapshot = query_io<StatusSnapshot>([this] {
        pump_.catch_up();
        return take_snapshot();
    });
    if (snapshot) {
        add_channels(*snapshot);
        // Their threads, some of which have a lower priority, hold the mutexes that these functions need.
        snapshot->log = log_status();
        snapshot->uplinks = uplinks_.status();
        snapshot->uplinks_abandoned = uplinks_.abandoned_count();
        snapshot->channels_agree = ledger_.channels_agree(sampler_.names());
        snapshot->config.differs_from_file = live_settings_.differs_from_file();
    }
    return snapshot;
}

/// Has the I/O thread publish what the low-power mode left in the queue; does not wait for long if the thread is busy.
void Gateway::catch_up() {
    if (waker_.is_low_power()) {
        (void)call_on_reactor(
            reactor_, [this] { pump_.catch_up(); }, response_time_max);
    }
}

std::vector<ShownDevice> Gateway::shown_devices() {
    catch_up();
    const std::vector<DeviceId> devices = sampler_.devices();
    const std::vector<LedgerCounts> ledger = ledger_.cut(sampler_.names());
    const BadChannels bad = channel_watch_.bad();
    std::vector<ShownDevice> shown;
    shown.reserve(devices.size());
    for (const DeviceId id : devices) {
        shown.push_back({sampler_.status(id), bad.of(id), ledger[to_index(id)]});
    }
    return shown;
}

std::optional<ShownDevice> Gateway::shown_device(std::string_view name) {
    catch_up();
    const std::optional<DeviceId> id = sampler_.find(name);
    if (!id) {
        return std::nullopt;
    }
    return ShownDevice{sampler_.status(*id), channel_watch_.bad().of(*id),
                       ledger_.cut(sampler_.names())[to_index(*id)]};
}

std::optional<std::vector<SubscriberStatus>> Gateway::subscribers() {
    return query_io<std::vector<SubscriberStatus>>([this] { return subscriber_statuses(); });
}

std::optional<DurableLogStatus> Gateway::log_status() const {
    if (consumers_.durable_log == nullptr) {
        return std::nullopt;
    }
    DurableLogStatus status = consumers_.durable_log->status();
    status.reads = log_history_->counts();
    return status;
}

std::vector<SubscriberStatus> Gateway::subscriber_statuses() const {
    std::vector<SubscriberStatus> subscribers = publishers_.subscribers();
    for (SubscriberStatus& subscriber : subscribers) {
        slow_gaps_.show(subscriber);
    }
    return subscribers;
}

void Gateway::add_transport(StatusSnapshot& snapshot) const {
    for (const FormatEndpoint& bound : publishers_.endpoints()) {
        EndpointStatus& endpoint = snapshot.endpoints.emplace_back();
        endpoint.endpoint = to_string(bound.endpoint);
        endpoint.format = bound.format;
        endpoint.curve_key = bound.curve ? to_z85(bound.curve->keys.public_key) : "";
        endpoint.delivery = bound.delivery;
        endpoint.last_value = bound.last_value;
        if (bound.curve && bound.curve->clients) {
            endpoint.clients = bound.curve->clients->size();
        }
    }
    snapshot.subscribers = subscriber_statuses();
    snapshot.subscribers_revoked = publishers_.revoked();
    snapshot.gap_overflows = slow_gaps_.closed();
    snapshot.publisher = publishers_.totals();
    snapshot.formats = publishers_.totals_by_format();
}

void Gateway::add_channels(StatusSnapshot& snapshot) const {
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        const auto id = static_cast<ChannelId>(i);
        if (!channels_.is_current(id)) {
            continue;
        }
        TelemetrySample last{};
        last.quality = Quality::bad;
        const bool has_sample = pump_.copy_last(id, last);
        const ChannelLedgerCounts counts = ledger_.counts_of(id);
        if (has_sample || counts.dropped_total() > 0) {
            const ChannelInfo& info = channels_.at(id);
            snapshot.channels.push_back({info.topic, info.unit, last, counts.drops});
        }
    }
    snapshot.channels_refused = channels_.refused();
}

void Gateway::add_counts(StatusSnapshot& snapshot) const {
    // The pump does not run here, so the queue can only grow between the two reads of its size. Samples that the ledger
    // counts as queued are in the queue or held by a sampling thread, which holds at most one batch and the oldest
    // items that it is evicting.
    const std::size_t in_hand_max =
        queue_.producers() * (SampleBatch::samples_max + BoundedQueue<TelemetrySample>::evict_items_max);
    const std::size_t before = queue_.size();
    // Every sample queued so far belongs to one of these devices, and so do all samples added later, except the first
    // samples of a new device.
    const std::vector<DeviceId> devices = sampler_.devices();
    const std::vector<LedgerCounts> all = ledger_.cut(sampler_.names());
    snapshot.queue_depth = queue_.size();
    std::uint64_t queued = 0;
    for (const LedgerCounts& counts : all) {
        queued += counts.queued;
        snapshot.ledger_removed += counts;
    }
    const BadChannels bad = channel_watch_.bad();
    for (const DeviceId id : devices) {
        snapshot.devices.push_back(sampler_.status(id));
        snapshot.channels_bad.push_back(bad.of(id));
        snapshot.ledger.push_back(all[to_index(id)]);
        snapshot.ledger_removed -= snapshot.ledger.back();
    }
    snapshot.queue_agrees = queued >= before && queued <= snapshot.queue_depth + in_hand_max;
    for (const SampleConsumer* const consumer : pump_.consumers()) {
        snapshot.consumers.push_back({std::string(consumer->name()), consumer->ledger()});
    }
    snapshot.notices = consumers_.format_feeds.notices();
}

}  // namespace telegate
