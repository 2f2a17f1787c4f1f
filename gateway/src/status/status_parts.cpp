#include "status/status_parts.hpp"

#include "base/readable_bytes.hpp"
#include "core/curve.hpp"
#include "encode/sample_members.hpp"
#include "encode/time_text.hpp"

#include <array>
#include <chrono>
#include <vector>

namespace telegate {
namespace {

/// Appends milliseconds, as a whole number if possible.
void append_interval(std::string& out, Duration interval) {
    const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(interval);
    if (whole == interval) {
        append_json(out, whole.count());
    } else {
        append_json(out, std::chrono::duration<double, std::milli>(interval).count());
    }
}

void append_sample_value(std::string& out, const TelemetrySample& sample) {
    switch (sample.type) {
        case ValueType::none: out += "null"; break;
        case ValueType::real: append_json(out, sample.value.real); break;
        case ValueType::integer: append_json(out, sample.value.integer); break;
        case ValueType::boolean: append_json(out, sample.value.boolean); break;
        case ValueType::text: append_json(out, sample.text()); break;
    }
}

/// Returns the reasons whose count is not zero.
template <class Reason, class Counts>
std::vector<Reason> reasons_in(const Counts& counts) {
    std::vector<Reason> reasons;
    for (std::size_t reason = 0; reason < counts.size(); ++reason) {
        if (counts[reason].count > 0) {
            reasons.push_back(static_cast<Reason>(reason));
        }
    }
    return reasons;
}

void add_drops(JsonObject& out, const std::array<ChannelDrops, drop_reasons>& drops) {
    out.map(
        {"drops", "DropsByReason"}, reasons_in<DropReason>(drops), [](DropReason reason) { return to_string(reason); },
        [&](JsonObject& object, DropReason reason) {
            const ChannelDrops& lost = drops[static_cast<std::size_t>(reason)];
            object.name_schema("Drops");
            object.add("count", Described{lost.count, schema_from_1});
            object.add("first_seq", lost.first_seq);
            object.add("last_seq", lost.last_seq);
            object.add("first_time", to_iso8601(lost.first_utc_ns));
            object.add("last_time", to_iso8601(lost.last_utc_ns));
        });
}

void add_ledger(JsonObject& out, const LedgerCounts& counts) {
    out.add("sampled", counts.sampled);
    out.add("published", counts.published);
    out.add("filtered", counts.filtered);
    out.add("queued", counts.queued);
    out.counts<DropReason>("dropped", counts.dropped);
}

void list_lost_sample(JsonObject& out, const LostSample& sample, std::int64_t time_utc_ns) {
    const bool is_known = sample.seq != 0;
    out.name_schema("LostSample");
    out.add("topic", is_known ? std::optional(sample.topic) : std::nullopt);
    out.add("seq", is_known ? std::optional(static_cast<std::int64_t>(sample.seq)) : std::nullopt);
    out.add("time", time_or_null(time_utc_ns));
}

void list_losses(JsonObject& out, const SubscriberStatus& subscriber, LossReason reason) {
    const Losses& losses = subscriber.losses[static_cast<std::size_t>(reason)];
    const auto& ends = subscriber.lost[static_cast<std::size_t>(reason)];
    out.name_schema("Losses");
    out.add("count", losses.count);
    out.object("first", [&](JsonObject& first) { list_lost_sample(first, ends.first, losses.first_utc_ns); });
    out.object("last", [&](JsonObject& last) { list_lost_sample(last, ends.second, losses.last_utc_ns); });
}

}  // namespace

void list_ledger(JsonObject& out, const LedgerCounts& counts, std::optional<bool> balanced) {
    out.name_schema("LedgerCounts");
    add_ledger(out, counts);
    out.add_if("balanced", balanced);
}

void list_channel_ledger(JsonObject& out, const ChannelLedgerCounts& counts) {
    out.name_schema("ChannelLedgerCounts");
    add_ledger(out, counts);
    add_drops(out, counts.drops);
}

std::vector<ShownDevice> shown_devices(const StatusSnapshot& snapshot, bool with_ledgers) {
    std::vector<ShownDevice> shown;
    for (std::size_t i = 0; i < snapshot.devices.size(); ++i) {
        shown.push_back({snapshot.devices[i], i < snapshot.channels_bad.size() ? snapshot.channels_bad[i] : 0});
        if (with_ledgers && i < snapshot.ledger.size()) {
            shown.back().ledger = snapshot.ledger[i];
        }
    }
    return shown;
}

void list_device(JsonObject& out, const ShownDevice& shown) {
    const DeviceStatus& device = shown.device;
    out.name_schema("Device");
    out.add("name", device.name);
    out.add_named("state", "DeviceState", device.state);
    out.add_text("interval_ms", schema_not_negative,
                 [&](std::string& text) { append_interval(text, device.interval); });
    out.add("channels", device.channels);
    out.add("reads", device.reads);
    out.add("reads_failed", device.reads_failed);
    out.add("ticks_missed", device.ticks_missed);
    out.add("reads_skipped", device.reads_skipped);
    out.add("consecutive_failures", device.consecutive_failures);
    out.add("lost_at_source", device.lost_at_source);
    out.counts<FilterReason>("filtered_by", device.filtered_by);
    out.add("thread", device.thread);
    out.add("breaker", device.breaker);
    out.add("last_error", text_or_null(device.last_error));
    out.add("refused", device.refused);
    out.add("last_refused", text_or_null(to_readable(device.last_refused)));
    out.add("last_refused_time", time_or_null(device.last_refused.empty() ? 0 : device.last_refused_utc_ns));
    out.add("last_error_current", device.is_error_current);
    out.add("last_error_time", time_or_null(device.last_error_utc_ns));
    out.add("last_good_time", time_or_null(device.last_good_utc_ns));
    out.add("state_since", time_or_null(device.state_since_utc_ns));
    out.add("outages", device.outages);
    out.add("samples_bad", device.samples_bad);
    out.add("channels_bad", shown.channels_bad);
    out.object("lateness_s", [&](JsonObject& lateness) {
        lateness.name_schema("Lateness");
        lateness.add("p50", to_seconds(device.lateness_p50));
        lateness.add("p99", to_seconds(device.lateness_p99));
        lateness.add("max", to_seconds(device.lateness_max));
    });
    out.object_if("ledger", shown.ledger, [](JsonObject& ledger, const LedgerCounts& counts) {
        list_ledger(ledger, counts, counts.balanced());
    });
}

void list_security(JsonObject& out, const std::string& curve_key, std::optional<std::size_t> clients) {
    out.name_schema("Security");
    out.add_named("mechanism", "Mechanism", curve_key.empty() ? Mechanism::null : Mechanism::curve);
    out.add_if("public_key", text_or_null(curve_key));
    out.add_text_if(!curve_key.empty(), "clients", R"({"type":["integer","null"],"minimum":0})",
                    [&](std::string& text) { append_json(text, clients); });
}

void list_channel(JsonObject& out, const ChannelStatus& channel) {
    out.name_schema("ChannelStatus");
    out.add("seq", channel.last.seq);
    out.add("time", channel.last.seq == 0 ? std::nullopt : std::optional(to_iso8601(channel.last.time_utc_ns)));
    out.add_text("value", sample_member::value.schema,
                 [&](std::string& text) { append_sample_value(text, channel.last); });
    out.add("unit", channel.unit);
    out.add_named("quality", "Quality", channel.last.quality);
    out.set_optional(true);
    if (out.describes() || !reasons_in<DropReason>(channel.drops).empty()) {
        add_drops(out, channel.drops);
    }
    out.set_optional(false);
}

void add_connections(JsonObject& out, const SocketTotals& totals) {
    out.add("connections_accepted", totals.connections_accepted);
    out.add("connections_refused", totals.connections_refused);
    out.add("accept_errors", totals.accept_errors);
    out.add("handshakes_failed", totals.handshakes_failed);
    out.add("violations", totals.violations);
    out.add("heartbeat_timeouts", totals.heartbeat_timeouts);
}

void list_subscriber(JsonObject& out, const SubscriberStatus& subscriber, std::string_view text_id) {
    out.name_schema("Subscriber");
    out.add_text("id", R"({"type":["string","integer"]})", [&](std::string& text) {
        if (text_id.empty()) {
            append_json(text, subscriber.id);
        } else {
            append_json(text, text_id);
        }
    });
    out.add("endpoint", subscriber.endpoint);
    out.add("format", Described{to_string(subscriber.format), schema_reference("Format")});
    out.add("peer", subscriber.peer);
    out.values("subscriptions", subscriber.subscriptions, [](const std::string& each) { return to_readable(each); });
    out.add("subscriptions_count", subscriber.subscriptions_count);
    add_deliveries(out, subscriber);
    out.map(
        {"losses", "LossesByReason"}, reasons_in<LossReason>(subscriber.losses),
        [](LossReason reason) { return to_string(reason); },
        [&](JsonObject& each, LossReason reason) { list_losses(each, subscriber, reason); });
    out.add("backlog_bytes", subscriber.backlog_bytes);
    out.add("blocking", subscriber.blocking);
    out.add("received", subscriber.received);
    out.add("zmtp", "3." + std::to_string(subscriber.zmtp_minor));
    out.add_named("mechanism", "Mechanism", subscriber.mechanism);
    out.add("curve_key", subscriber.curve_key ? std::optional(to_z85(*subscriber.curve_key)) : std::nullopt);
    out.add("client", text_or_null(to_readable(subscriber.curve_name)));
    out.add("idle_ms", subscriber.silent.count());
    out.add("round_trip_s", subscriber.round_trip ? std::optional(to_seconds(*subscriber.round_trip)) : std::nullopt);
}

void list_services(JsonObject& out, const ServicesStatus& services) {
    using Place = ServicesStatus::Place;
    const SocketTotals& totals = services.totals;
    out.name_schema("Services");
    out.values("endpoints", services.endpoints, [](const Place& place) { return place.endpoint; });
    out.array("security", services.endpoints,
              [](JsonObject& each, const Place& place) { list_security(each, place.curve_key, place.clients); });
    out.add("peers", services.peers);
    add_connections(out, totals);
    out.add("peers_revoked", services.peers_revoked);
    out.counts<ServiceKind>("requests", services.requests);
    out.counts<ServiceError>("errors", services.errors);
    out.add("replays_active", services.replays_active);
    out.add("replays_completed", services.replays_completed);
    out.add("samples_replayed", services.samples_replayed);
    out.add("replies_sent", totals.sent);
    out.add("replies_dropped", totals.dropped);
    out.add("replies_pending", totals.pending);
    out.add("replies_lost", services.replies_lost);
    out.add("backlog_bytes", services.backlog_bytes);
}

void list_change(JsonObject& out, const SettingChange& change) {
    const bool is_value = change.kind == SettingChange::Kind::changed;
    out.name_schema("SettingChange");
    out.add("key", key_text(change));
    out.add("kind", change.kind);
    out.add_if("from", is_value ? std::optional(change.from) : std::nullopt);
    out.add_if("to", is_value ? std::optional(change.to) : std::nullopt);
    out.add("applies", change.applies);
}

void list_log(JsonObject& out, const DurableLogStatus& log) {
    out.name_schema("DurableLog");
    out.add("path", to_readable(log.path));
    out.add("segments", log.log.segments);
    out.add("bytes", log.log.bytes);
    out.add("oldest_position", log.log.oldest);
    out.add("oldest_time", time_or_null(log.oldest_utc_ns));
    out.add("next_position", log.log.next);
    out.add("synced_position", log.log.synced);
    out.add("samples", log.log.samples);
    out.add("pending", log.pending);
    out.object("dropped", [&](JsonObject& dropped) {
        dropped.name_schema("DurableLogDropped");
        dropped.add("log_slow", log.lost);
        dropped.add("log_full", log.log.dropped_full);
    });
    out.add("written_bytes", log.log.written_bytes);
    out.add("day", time_or_null(log.log.day_ns));
    out.add("day_bytes", log.log.day_bytes);
    out.add("segments_removed", log.log.segments_removed);
    out.add("segments_removed_for_space", log.log.segments_removed_for_space);
    out.add("full", log.log.is_full);
    out.object("reads", [&](JsonObject& reads) {
        reads.name_schema("DurableLogReads");
        reads.add("pages", log.reads.pages);
        reads.add("samples", log.reads.samples);
        reads.add("refused", log.reads.refused);
        reads.add("late", log.reads.late);
        reads.add("failed", log.reads.failed);
    });
    out.add("error", text_or_null(to_readable(log.error)));
}

/// Returns what an operator should know of what is delivered now, or by a rewind; "": nothing.
std::string uplink_warning(const uplink::UplinkStatus& status) {
    if (status.encoded_from == 0) {
        return "";
    }
    return "messages before position " + std::to_string(status.encoded_from) + " were delivered with other settings: " +
           (status.is_repeating ? "the server stores them twice" : "after a rewind, the server stores them twice");
}

void list_uplink(JsonObject& out, const UplinkReport& uplink) {
    const uplink::UplinkStatus& status = uplink.status;
    out.name_schema("Uplink");
    out.add("name", uplink.name);
    out.add("urls", uplink.urls);
    out.add("subject", uplink.subject);
    out.add("connected", status.is_connected);
    out.add("state", status.state);
    out.add("paused", status.is_paused);
    out.add("server", text_or_null(status.server));
    out.add("error", text_or_null(status.error));
    out.add("last_error", text_or_null(status.last_error));
    out.add("last_error_time", time_or_null(status.last_error_utc_ns));
    out.add("cursor_error", text_or_null(status.cursor_error));
    out.add("warning", text_or_null(uplink_warning(status)));
    out.add("position", status.settled);
    out.add("delivered_time", time_or_null(status.delivered_utc_ns));
    out.add("lag_s", to_seconds(uplink.lag));
    out.add("lag_samples", status.lag);
    out.add("backlog_samples", status.backlog);
    out.add("catch_up_s", status.catch_up_time ? std::optional(status.catch_up_time->count()) : std::nullopt);
    out.add("round_trip_s", to_seconds(status.round_trip));
    out.add("connections", status.connections);
    out.add("losses", status.losses);
    out.object("messages", [&](JsonObject& messages) {
        messages.name_schema("UplinkMessages");
        messages.add("sent", status.counts.sent);
        messages.add("resent", status.counts.resent);
        messages.add("acknowledged", status.counts.acknowledged);
        messages.add("duplicates", status.counts.duplicates);
        messages.add("refused", status.counts.refused);
    });
    out.object("samples", [&](JsonObject& samples) {
        samples.name_schema("UplinkSamples");
        samples.add("read", status.ledger.read);
        samples.add("acknowledged", status.ledger.acknowledged);
        samples.add("in_flight", status.ledger.in_flight);
        samples.add("quarantined", status.ledger.quarantined);
        samples.add("gaps", status.ledger.gaps);
        samples.add("returned", status.ledger.returned);
        samples.add("balanced", status.ledger.balanced());
    });
    out.object("quarantine", [&](JsonObject& quarantine) {
        quarantine.name_schema("UplinkQuarantineSize");
        quarantine.add("samples", status.quarantined);
        quarantine.add("bytes", status.quarantine_bytes);
    });
}

}  // namespace telegate
