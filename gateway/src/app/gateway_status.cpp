#include "app/gateway.hpp"

#include "log/log_line.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The status of the gateway: one snapshot of all parts, taken on the I/O thread.

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
    snapshot.tags = tags_;
    snapshot.time_utc_ns = clock_.utc_now_ns();
    snapshot.uptime = clock_.mono_now() - started_at_;
    snapshot.clock = machine_clock_watch()->look();
    snapshot.queue_capacity = queue_.capacity();
    snapshot.queue_high_water = queue_.high_water();
    snapshot.queue_policy = queue_.policy();
    snapshot.sampling_schedule = sampling_threads_.schedule().in_force;
    snapshot.config = live_settings_.status();
    snapshot.previous_runs = state_file_.previous_runs();
    take_counts(snapshot);
    snapshot.recorders = consumers_.recorders.status();
    if (consumers_.durable_log != nullptr) {
        snapshot.log = consumers_.durable_log->status();
        snapshot.log->reads = log_history_->counts();
    }
    snapshot.uplinks = uplinks_.status();
    take_transport(snapshot);
    snapshot.rest_endpoint = rest_url();
    snapshot.services = services_.status();
    take_channels(snapshot);
    return snapshot;
}

void Gateway::take_transport(StatusSnapshot& snapshot) const {
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
    snapshot.subscribers = publishers_.subscribers();
    for (SubscriberStatus& subscriber : snapshot.subscribers) {
        slow_gaps_.show(subscriber);
    }
    snapshot.subscribers_revoked = publishers_.revoked();
    snapshot.gap_overflows = slow_gaps_.closed();
    snapshot.publisher = publishers_.totals();
    snapshot.formats = publishers_.totals_by_format();
}

void Gateway::take_channels(StatusSnapshot& snapshot) const {
    TelemetrySample none{};
    none.quality = Quality::bad;
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        const auto id = static_cast<ChannelId>(i);
        if (!channels_.is_current(id)) {
            continue;
        }
        const TelemetrySample* last = pump_.last(id);
        const ChannelLedgerCounts counts = ledger_.counts_of(id);
        if (last != nullptr || counts.dropped_total() > 0) {
            const ChannelInfo& info = channels_.at(id);
            snapshot.channels.push_back({info.topic, info.unit, last != nullptr ? *last : none, counts.drops});
        }
    }
    snapshot.channels_refused = channels_.refused();
    snapshot.sections_unclaimed = unclaimed_sections_.unclaimed();
}

void Gateway::take_counts(StatusSnapshot& snapshot) const {
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
    snapshot.channels_agree = ledger_.channels_agree(all.size());
    for (const SampleConsumer* const consumer : pump_.consumers()) {
        snapshot.consumers.push_back({std::string(consumer->name()), consumer->ledger()});
    }
    snapshot.notices = consumers_.format_feeds.notices();
}

}  // namespace telegate
