#include "status/status_parts.hpp"

#include "base/readable_bytes.hpp"
#include "core/curve.hpp"
#include "encode/sample_members.hpp"
#include "encode/time_text.hpp"

#include <array>
#include <chrono>
#include <limits>
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
    out.add("sampled", counts.sampled, counter("telegate_samples_sampled", "Samples read from the device."));
    out.add("published", counts.published,
            counter("telegate_samples_published",
                    "Samples handed to the publishers, including samples without subscribers."));
    out.add("filtered", counts.filtered,
            counter("telegate_samples_filtered", "Samples filtered out intentionally, for example by a deadband."));
    out.add("queued", counts.queued,
            gauge("telegate_samples_queued", "Samples queued between the device and the publishers."));
    out.counts<DropReason>(
        "dropped", counts.dropped,
        counter("telegate_samples_dropped", "Samples lost between the device and the publishers.", "reason"));
}

double seconds_of(std::int64_t utc_ns) {
    return static_cast<double>(utc_ns) / 1e9;
}

void list_lateness(JsonObject& out, const DeviceStatus& device) {
    constexpr MetricName metric{
        "telegate_device_lateness_seconds", MetricType::summary,
        "Delay of readings behind their schedule since the start: median, 99th percentile, maximum."};
    const auto add = [&](std::string_view name, std::string_view quantile, std::chrono::nanoseconds lateness) {
        out.add(name, to_seconds(lateness));
        out.add_metric(metric, to_seconds(lateness), {{"quantile", quantile}});
    };
    out.name_schema("Lateness");
    add("p50", "0.5", device.lateness_p50);
    add("p99", "0.99", device.lateness_p99);
    add("max", "1", device.lateness_max);
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
    out.label("device", device.name);
    out.add("name", device.name);
    out.add_named("state", "DeviceState", device.state);
    out.add_states(gauge("telegate_device_state", "1 for the current state of the device, 0 for the others.", "state"),
                   device.state);
    out.add_metric(gauge("telegate_device_stopped",
                         "1 if a device that the settings start automatically has been stopped, 0 otherwise."),
                   device.is_stopped());
    out.add_text("interval_ms", schema_not_negative,
                 [&](std::string& text) { append_interval(text, device.interval); });
    out.add_metric(gauge("telegate_device_interval_seconds", "Interval between two readings."),
                   to_seconds(device.interval));
    out.add("channels", device.channels, gauge("telegate_device_channels", "Number of channels of the device."));
    out.add("reads", device.reads, counter("telegate_device_reads", "Completed readings, including failed ones."));
    out.add("reads_failed", device.reads_failed, counter("telegate_device_reads_failed", "Failed readings."));
    out.add("ticks_missed", device.ticks_missed,
            counter("telegate_device_ticks_missed", "Readings skipped because the previous one took too long."));
    out.add("reads_skipped", device.reads_skipped,
            counter("telegate_device_reads_skipped",
                    "Readings skipped because the device had too many consecutive failures."));
    out.add("consecutive_failures", device.consecutive_failures,
            gauge("telegate_device_consecutive_failures", "Failed readings since the last good one."));
    out.add("lost_at_source", device.lost_at_source,
            counter("telegate_device_lost_at_source",
                    "Readings lost by the device or the kernel before the gateway received them."));
    out.counts<FilterReason>("filtered_by", device.filtered_by,
                             counter("telegate_device_filtered",
                                     "Samples filtered out intentionally, by the stage that filtered them.", "reason"));
    out.add("thread", device.thread);
    out.add("breaker", device.breaker);
    if (out.describes() || device.breaker) {
        out.add_states(
            gauge("telegate_device_breaker_state",
                  "1 for the current state of the breaker, 0 for the others; only for devices with their own thread.",
                  "state"),
            device.breaker.value_or(BreakerState::closed));
    }
    out.add("last_error", text_or_null(device.last_error));
    out.add("refused", device.refused,
            counter("telegate_device_refused",
                    "Lines, frames and datagrams of the device that were refused; see last_refused for the reason."));
    out.add("last_refused", text_or_null(to_readable(device.last_refused)));
    out.add("last_refused_time", time_or_null(device.last_refused.empty() ? 0 : device.last_refused_utc_ns));
    out.add("last_error_current", device.is_error_current);
    out.add("last_error_time", time_or_null(device.last_error_utc_ns));
    out.add("last_good_time", time_or_null(device.last_good_utc_ns));
    out.add_metric(gauge("telegate_device_last_good_timestamp_seconds",
                         "Time of the last good reading, in seconds since 1970; absent before the first."),
                   device.last_good_utc_ns != 0 ? std::optional(seconds_of(device.last_good_utc_ns)) : std::nullopt);
    out.add("state_since", time_or_null(device.state_since_utc_ns));
    out.add_metric(gauge("telegate_device_state_since_timestamp_seconds",
                         "Time at which the device entered its current state, in seconds since 1970."),
                   seconds_of(device.state_since_utc_ns));
    out.add("outages", device.outages,
            counter("telegate_device_outages", "Number of times the device has started to fail."));
    out.add("samples_bad", device.samples_bad, counter("telegate_device_samples_bad", "Samples with quality bad."));
    out.add("channels_bad", shown.channels_bad,
            gauge("telegate_device_channels_bad",
                  "Channels that have been bad for at least a minute while the device was measuring."));
    out.object("lateness_s", [&](JsonObject& lateness) { list_lateness(lateness, device); });
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
    out.add("connections_accepted", totals.connections_accepted,
            counter("telegate_publisher_connections_accepted", "Accepted connections."));
    out.add("connections_refused", totals.connections_refused,
            counter("telegate_publisher_connections_refused", "Connections refused because there were too many."));
    out.add("accept_errors", totals.accept_errors,
            counter("telegate_publisher_accept_errors", "Failed attempts to accept a connection."));
    out.add("handshakes_failed", totals.handshakes_failed,
            counter("telegate_publisher_handshakes_failed", "Connections whose handshake failed."));
    out.add("violations", totals.violations,
            counter("telegate_publisher_violations", "Connections closed because the peer violated the protocol."));
    out.add("heartbeat_timeouts", totals.heartbeat_timeouts,
            counter("telegate_publisher_heartbeat_timeouts", "Connections closed because the peer timed out."));
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
    out.add("peers", services.peers, gauge("telegate_services_peers", "Connected DEALER and REQ sockets."));
    out.set_metrics(false);
    add_connections(out, totals);
    out.set_metrics(true);
    out.add("peers_revoked", services.peers_revoked);
    out.counts<ServiceKind>("requests", services.requests,
                            counter("telegate_services_requests", "Valid requests.", "service"));
    out.counts<ServiceError>("errors", services.errors, counter("telegate_services_errors", "Error replies.", "code"));
    out.add("replays_active", services.replays_active, gauge("telegate_services_replays_active", "Active replays."));
    out.add("replays_completed", services.replays_completed);
    out.add("samples_replayed", services.samples_replayed,
            counter("telegate_services_replayed_samples", "Samples in replies to replay requests."));
    out.add("replies_sent", totals.sent);
    out.add("replies_dropped", totals.dropped,
            counter("telegate_services_replies_dropped",
                    "Replies that were still waiting to be read when the connection closed."));
    out.add("replies_pending", totals.pending);
    out.add("replies_lost", services.replies_lost,
            counter("telegate_services_replies_lost", "Requests without a reply because the peer had disconnected."));
    out.add("backlog_bytes", services.backlog_bytes,
            gauge("telegate_services_backlog_bytes", "Bytes of replies waiting to be read."));
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
    out.add("segments", log.log.segments, gauge("telegate_log_segments", "Segment files of the log."));
    out.add("bytes", log.log.bytes, gauge("telegate_log_bytes", "Size of the log on disk."));
    out.add("oldest_position", log.log.oldest);
    out.add("oldest_time", time_or_null(log.oldest_utc_ns));
    out.add("next_position", log.log.next);
    out.add("synced_position", log.log.synced);
    out.add("samples", log.log.samples, counter("telegate_log_samples", "Samples handed to the durable log."));
    out.add("pending", log.pending, gauge("telegate_log_pending", "Samples waiting to be written to the log."));
    out.object("dropped", [&](JsonObject& dropped) {
        constexpr MetricName metric =
            counter("telegate_log_dropped",
                    "Published samples that are not in the log, by reason: log_slow or log_full.", "reason");
        dropped.name_schema("DurableLogDropped");
        dropped.add("log_slow", log.lost, metric);
        dropped.add("log_full", log.log.dropped_full, metric);
    });
    out.add("written_bytes", log.log.written_bytes, counter("telegate_log_written_bytes", "Bytes written to the log."));
    out.add("day", time_or_null(log.log.day_ns));
    out.add("day_bytes", log.log.day_bytes);
    out.add("segments_removed", log.log.segments_removed,
            counter("telegate_log_segments_removed", "Segment files removed because the log reached a limit."));
    out.add("segments_removed_for_space", log.log.segments_removed_for_space,
            counter("telegate_log_segments_removed_for_space", "Segment files removed because the disk lacked space."));
    out.add("full", log.log.is_full, gauge("telegate_log_full", "1 if the log is full, 0 otherwise."));
    out.object("reads", [&](JsonObject& reads) {
        constexpr MetricName reads_failed = counter(
            "telegate_log_reads_failed",
            "Reads of the log without a result: refused (too many pending), late (not written in time) or failed.",
            "reason");
        reads.name_schema("DurableLogReads");
        reads.add("pages", log.reads.pages, counter("telegate_log_read_pages", "Pages read from the log for replays."));
        reads.add("samples", log.reads.samples,
                  counter("telegate_log_read_samples", "Samples read from the log for replays."));
        reads.add("refused", log.reads.refused, reads_failed);
        reads.add("late", log.reads.late, reads_failed);
        reads.add("failed", log.reads.failed, reads_failed);
    });
    out.add("error", text_or_null(to_readable(log.error)));
    out.add_metric(gauge("telegate_log_ok", "1 if the log can be written, 0 otherwise."), log.error.empty());
}

/// Returns what an operator should know of what is delivered now, or by a rewind; "": nothing.
std::string uplink_warning(const uplink::UplinkStatus& status) {
    if (status.encoded_from == 0) {
        return "";
    }
    return "messages before position " + std::to_string(status.encoded_from) + " were delivered with other settings: " +
           (status.is_repeating ? "the server stores them twice" : "after a rewind, the server stores them twice");
}

namespace {

void list_uplink_messages(JsonObject& out, const uplink::DeliveryCounts& counts) {
    out.name_schema("UplinkMessages");
    out.add("sent", counts.sent,
            counter("telegate_uplink_messages_sent", "Messages sent to the back end, including repeated ones."));
    out.add("resent", counts.resent,
            counter("telegate_uplink_messages_resent", "Messages sent again because they were not acknowledged."));
    out.add("acknowledged", counts.acknowledged);
    out.add("duplicates", counts.duplicates);
    out.add("refused", counts.refused,
            counter("telegate_uplink_messages_refused",
                    "Messages that the back end did not store, and that are sent again."));
}

void list_uplink_samples(JsonObject& out, const uplink::DeliveryLedger& ledger) {
    out.name_schema("UplinkSamples");
    out.add("read", ledger.read,
            counter("telegate_uplink_samples", "Samples read from the durable log for the uplink."));
    out.add("acknowledged", ledger.acknowledged,
            counter("telegate_uplink_samples_acknowledged", "Samples that the back end has acknowledged."));
    out.add("in_flight", ledger.in_flight,
            gauge("telegate_uplink_samples_in_flight", "Samples read and not yet counted otherwise."));
    out.add("quarantined", ledger.quarantined,
            counter("telegate_uplink_samples_quarantined",
                    "Samples that the back end has refused, and that were delivered as missing."));
    out.add("gaps", ledger.gaps,
            counter("telegate_uplink_samples_missing",
                    "Samples that delivered gap notices name as missing for other reasons."));
    out.add("omitted", ledger.omitted,
            counter("telegate_uplink_samples_omitted",
                    "Samples that are not sent, because the format or the settings of the uplink omit them."));
    out.add("returned", ledger.returned,
            counter("telegate_uplink_samples_returned", "Samples that are read again, after a refusal or a rewind."));
    out.add("balanced", ledger.balanced());
}

}  // namespace

void list_uplink(JsonObject& out, const UplinkReport& uplink) {
    const uplink::UplinkStatus& status = uplink.status;
    out.name_schema("Uplink");
    out.label("uplink", uplink.name);
    out.add("name", uplink.name);
    out.add("urls", uplink.urls);
    out.add("type", uplink.type);
    out.add("target", uplink.target);
    out.add("connected", status.is_connected,
            gauge("telegate_uplink_connected", "1 if the uplink is connected, 0 otherwise."));
    out.add("state", status.state);
    out.add("paused", status.is_paused, gauge("telegate_uplink_paused", "1 if the uplink is paused, 0 otherwise."));
    out.add("server", text_or_null(status.server));
    out.add("error", text_or_null(status.error));
    out.add("last_error", text_or_null(status.last_error));
    out.add("last_error_time", time_or_null(status.last_error_utc_ns));
    out.add("cursor_error", text_or_null(status.cursor_error));
    out.add("warning", text_or_null(uplink_warning(status)));
    out.add("position", status.settled);
    out.add("delivered_time", time_or_null(status.delivered_utc_ns));
    out.add("lag_s", to_seconds(uplink.lag),
            gauge("telegate_uplink_lag_seconds",
                  "Age of the newest sample before which everything is delivered; 0 if nothing waits."));
    out.add("lag_samples", status.lag,
            gauge("telegate_uplink_lag_samples",
                  "Samples and gaps of the durable log that are not delivered, of all channels."));
    out.add("backlog_samples", status.backlog,
            gauge("telegate_uplink_backlog_samples",
                  "Of telegate_uplink_lag_samples, those that are delivered after new samples."));
    out.add("catch_up_s", status.catch_up_time ? std::optional(status.catch_up_time->count()) : std::nullopt);
    out.add_metric(gauge("telegate_uplink_catch_up_seconds",
                         "Estimated time until everything is delivered; +Inf if the log grows faster."),
                   status.catch_up_time ? static_cast<double>(status.catch_up_time->count())
                                        : std::numeric_limits<double>::infinity());
    out.add("round_trip_s", to_seconds(status.round_trip),
            gauge("telegate_uplink_round_trip_seconds", "Average time between a message and its acknowledgment."));
    out.add("connections", status.connections,
            counter("telegate_uplink_connections", "Connections opened to the back end."));
    out.add("losses", status.losses,
            counter("telegate_uplink_losses",
                    "Times that the back end had lost acknowledged messages, which were then sent again."));
    out.object("messages", [&](JsonObject& messages) { list_uplink_messages(messages, status.counts); });
    out.object("samples", [&](JsonObject& samples) { list_uplink_samples(samples, status.ledger); });
    out.object("quarantine", [&](JsonObject& quarantine) {
        quarantine.name_schema("UplinkQuarantineSize");
        quarantine.add("samples", status.quarantined,
                       gauge("telegate_uplink_quarantine_samples", "Samples in the quarantine."));
        quarantine.add("bytes", status.quarantine_bytes);
    });
}

}  // namespace telegate
