#include "status/status_json.hpp"

#include "base/build_info.hpp"
#include "base/json_object.hpp"
#include "base/readable_bytes.hpp"
#include "encode/time_text.hpp"
#include "status/status_parts.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

void list_last_reload(JsonObject& out, const ReloadStatus& last) {
    out.name_schema("LastReload");
    out.add("time", to_iso8601(last.time_utc_ns));
    out.add("by", last.who);
    out.add("outcome", last.outcome);
    out.add("changes_count", last.changes_count);
    out.add("needs_restart", last.needs_restart);
    out.add("problem", text_or_null(last.problem));
}

void list_config(JsonObject& out, const ConfigStatus& config) {
    out.name_schema("SettingsInForce");
    out.add("path", to_readable(config.path));
    out.add("hash", config.hash);
    out.add("generation", Described{config.generation, schema_from_1});
    out.add_metric(
        gauge("telegate_config_generation", "Generation of the settings in force; incremented by each change."),
        config.generation);
    out.add("loaded_at", to_iso8601(config.loaded_at_utc_ns));
    out.add("differs_from_file", config.differs_from_file);
    out.object_or_null("reverts", config.revert, [](JsonObject& reverts, const PendingRevert& revert) {
        reverts.name_schema("PendingRevert");
        reverts.add("generation", Described{revert.generation, schema_from_1});
        reverts.add("time", to_iso8601(revert.at_utc_ns));
    });
    out.object_or_null("last_reload", config.last_reload, list_last_reload);
    out.add_metric(gauge("telegate_config_last_reload_successful",
                         "1 if the last reload of the settings succeeded or there was none, 0 if it failed."),
                   !config.last_reload || !is_refusal(config.last_reload->outcome));
    out.add_metric(gauge("telegate_config_last_reload_timestamp_seconds",
                         "Time of the last reload, in seconds since 1970; 0 if there was none."),
                   config.last_reload ? static_cast<double>(config.last_reload->time_utc_ns) / 1e9 : 0.0);
}

void list_logged_run(JsonObject& out, const LoggedRun& run) {
    out.name_schema("LoggedRun");
    out.add("last_sample", time_or_null(run.last_sample_ns));
    out.add("captured", run.captured);
    out.add("lost", run.lost);
}

void list_previous_run(JsonObject& out, const PreviousRun& run, const std::optional<DurableLogStatus>& log) {
    constexpr std::int64_t ns_per_ms = 1'000'000;
    const bool is_logged = log && log->previous_run && log->previous_run->epoch_ms == run.epoch_ms;
    out.name_schema("PreviousRun");
    out.add("epoch", static_cast<std::uint64_t>(run.epoch_ms));
    out.add("stopped_cleanly", run.has_ended);
    out.add("last_known", run.ledger ? std::optional(to_iso8601(run.ledger->time_utc_ms * ns_per_ms)) : std::nullopt);
    out.object_or_null("ledger", run.ledger, [](JsonObject& ledger, const EpochLedger& last) {
        list_ledger(ledger, last.counts, last.counts.balanced());
    });
    out.object_or_null("log", is_logged ? log->previous_run : std::nullopt, list_logged_run);
}

void list_clock(JsonObject& out, const ClockStatus& clock) {
    const ClockReading& reading = clock.reading;
    const bool is_known = reading.sync != ClockSync::unknown;
    const auto if_known = [is_known](auto value) {
        return is_known ? std::optional(value) : std::nullopt;
    };
    const std::string problem =
        is_known || reading.failure == 0 ? "" : "adjtimex: " + std::generic_category().message(reading.failure);
    out.name_schema("Clock");
    out.add(
        "synchronized", if_known(reading.sync == ClockSync::synchronized),
        gauge("telegate_clock_synchronized",
              "1 if the kernel reports that the wall clock is synchronized, 0 if not; absent if it reports nothing."));
    out.add("estimated_error_s", if_known(reading.error_estimated_s),
            gauge("telegate_clock_estimated_error_seconds",
                  "Estimated error of the wall clock, as reported by the kernel; absent if it reports nothing."));
    out.add("maximum_error_s", if_known(reading.error_maximum_s));
    out.add("frequency_ppm", if_known(reading.frequency_ppm));
    out.add("problem", text_or_null(problem));
    out.add("steps", clock.steps, counter("telegate_clock_steps", "Number of steps of the wall clock."));
    out.object_or_null("last_step", clock.last_step, [](JsonObject& last, const ClockStep& step) {
        last.name_schema("ClockStep");
        last.add("time", to_iso8601(step.time_utc_ns));
        last.add("seconds", step.seconds);
    });
    out.add_metric(gauge("telegate_clock_last_step_seconds",
                         "Size of the last step of the wall clock, positive if forward; 0 if there was none."),
                   clock.last_step ? clock.last_step->seconds : 0.0);
    out.add("offset_ns", clock.offset_ns);
}

void list_queue(JsonObject& out, const StatusSnapshot& snapshot) {
    out.name_schema("Queue");
    out.add("depth", snapshot.queue_depth, gauge("telegate_queue_depth", "Samples in the queue."));
    out.add("capacity", snapshot.queue_capacity,
            gauge("telegate_queue_capacity", "Maximum number of samples in the queue."));
    out.add(
        "high_water", snapshot.queue_high_water,
        gauge(
            "telegate_queue_high_water",
            "Highest number of samples in the queue so far; with several sampling threads, the sum of their maxima."));
    out.add("policy", snapshot.queue_policy);
}

void list_ledgers(JsonObject& out, const StatusSnapshot& snapshot) {
    using DeviceLedger = std::pair<std::string, LedgerCounts>;
    std::vector<DeviceLedger> devices;
    LedgerCounts total = snapshot.ledger_removed;
    bool balanced = snapshot.queue_agrees && snapshot.channels_agree && snapshot.ledger_removed.balanced();
    for (std::size_t i = 0; i < std::min(snapshot.ledger.size(), snapshot.devices.size()); ++i) {
        devices.emplace_back(snapshot.devices[i].name, snapshot.ledger[i]);
        total += snapshot.ledger[i];
        balanced = balanced && snapshot.ledger[i].balanced();
    }
    out.name_schema("FullLedger");
    out.add("balanced", balanced,
            gauge("telegate_ledger_balanced",
                  "1 if sampled = published + filtered + dropped + queued for every device and the ledgers of its "
                  "channels agree, 0 otherwise."));
    out.object("total", [&](JsonObject& counts) {
        counts.set_metrics(false);
        list_ledger(counts, total);
    });
    out.map(
        {"devices", "LedgerByDevice"}, devices, [](const DeviceLedger& each) { return each.first; },
        [](JsonObject& counts, const DeviceLedger& each) { list_ledger(counts, each.second, each.second.balanced()); });
    out.metrics_of_each(devices, [](JsonObject& counts, const DeviceLedger& each) {
        counts.label("device", each.first);
        list_ledger(counts, each.second);
    });
}

void list_consumer(JsonObject& out, const ConsumerStatus& consumer) {
    out.name_schema("Consumer");
    out.add("name", consumer.name);
    out.add("taken", consumer.ledger.taken);
    out.add("missing", consumer.ledger.missing);
}

void list_delivery(JsonObject& out, const EndpointStatus& endpoint) {
    out.name_schema("Delivery");
    out.add("policy", endpoint.delivery.policy);
    out.add("backlog_bytes", endpoint.delivery.backlog_bytes_max);
    out.add("backlog_age_ms", static_cast<std::uint64_t>(endpoint.delivery.backlog_age_max.count()));
    out.add("last_value", endpoint.last_value);
}

/// Adds the members that `list` adds of the totals of all formats; their metrics are by format.
template <class List>
void add_totals(JsonObject& out, const StatusSnapshot& snapshot, const List& list) {
    out.set_metrics(false);
    list(out, snapshot.publisher);
    out.set_metrics(true);
    out.metrics_of_each(snapshot.formats, [&](JsonObject& each, const FormatTotals& totals) {
        each.label("format", to_string(totals.format));
        list(each, totals);
    });
}

void add_publisher_bytes(JsonObject& out, const PublisherTotals& totals) {
    out.add_metric(counter("telegate_publisher_sent_bytes", "Bytes sent to subscribers."), totals.bytes_sent);
    out.add_metric(counter("telegate_publisher_received_bytes", "Bytes received from subscribers."),
                   totals.bytes_received);
}

void list_notices(JsonObject& out, const NoticeTotals& notices) {
    constexpr MetricName metric =
        counter("telegate_notices_published", "Gap and heartbeat notices handed to the publishers.", "kind");
    out.name_schema("Notices");
    out.add("gaps", notices.gaps);
    out.add_metric(metric, notices.gaps, {{metric.by, "gap"}});
    out.add("beats", notices.heartbeats);
    out.add_metric(metric, notices.heartbeats, {{metric.by, "beat"}});
}

void list_transport(JsonObject& out, const StatusSnapshot& snapshot) {
    const auto list_notices_of = [&](JsonObject& notices, PayloadFormat format) {
        notices.label("format", to_string(format));
        list_notices(notices, snapshot.notices[static_cast<std::size_t>(format)]);
    };
    out.name_schema("Transport");
    out.values("endpoints", snapshot.endpoints, [](const EndpointStatus& each) { return each.endpoint; });
    out.values("formats", snapshot.endpoints, [](const EndpointStatus& each) {
        return Described{to_string(each.format), R"({"$ref":"#/components/schemas/Format"})"};
    });
    out.array("security", snapshot.endpoints, [](JsonObject& security, const EndpointStatus& each) {
        list_security(security, each.curve_key, each.clients);
    });
    out.array("delivery", snapshot.endpoints, list_delivery);
    add_totals(out, snapshot, [](JsonObject& each, const PublisherTotals& totals) {
        each.add("messages", totals.messages,
                 counter("telegate_publisher_messages",
                         "Published messages, counted once per format, including messages without subscribers."));
        add_connections(each, totals);
    });
    out.add("subscribers_revoked", snapshot.subscribers_revoked);
    out.add(
        "gap_overflows", snapshot.gap_overflows,
        counter("telegate_subscribers_gap_overflows", "Subscribers closed because they had too many gaps to report."));
    out.add("subscriptions", snapshot.publisher.subscriptions,
            gauge("telegate_publisher_subscriptions", "Subscriptions of all subscribers."));
    add_totals(out, snapshot, [](JsonObject& each, const PublisherTotals& totals) {
        each.add("subscriptions_refused", totals.subscriptions_refused,
                 counter("telegate_publisher_subscriptions_refused",
                         "Subscriptions refused because they were too long or too many."));
        each.add("received", totals.received);
        add_deliveries(each, totals);
        each.counts<LossReason>(
            "lost", totals.lost,
            counter("telegate_publisher_lost", "Messages dropped, by reason: slow, expired, conflated or disconnected.",
                    "reason"));
        add_publisher_bytes(each, totals);
    });
    out.map(
        {"notices", "NoticesByFormat"}, payload_format_names.values,
        [](PayloadFormat format) { return to_string(format); }, list_notices_of);
    out.metrics_of_each(payload_format_names.values, list_notices_of);
    out.array("subscribers", snapshot.subscribers,
              [](JsonObject& each, const SubscriberStatus& subscriber) { list_subscriber(each, subscriber); });
}

void list_sampler(JsonObject& out, const StatusSnapshot& snapshot) {
    const ThreadSchedule& schedule = snapshot.sampling_schedule;
    out.name_schema("Sampler");
    out.add("realtime_priority", static_cast<std::uint64_t>(schedule.realtime_priority));
    out.add("cpu_affinity", schedule.processors);
    const std::vector<ShownDevice> devices = shown_devices(snapshot, false);
    out.array("devices", devices, list_device);
    out.metrics_of_each(devices, list_device);
}

/// Adds 0 for devices without unclaimed sections, so that alerts can compare.
void add_unclaimed_count(JsonObject& out, const std::string& device, const std::vector<std::string>& topics) {
    out.add_metric(gauge("telegate_device_channel_sections_unclaimed",
                         "Channel sections in the settings that match no channel of the device after it has been "
                         "measuring for a minute."),
                   std::count_if(topics.begin(), topics.end(),
                                 [&](const std::string& topic) { return topic.starts_with(device + '/'); }));
}

void list_channels(JsonObject& out, const StatusSnapshot& snapshot) {
    out.name_schema("AllChannelStatus");
    out.add("refused", snapshot.channels_refused,
            counter("telegate_channels_refused", "Channels refused because there were too many."));
    out.add("unclaimed", snapshot.sections_unclaimed);
    out.metrics_of_each(snapshot.devices, [&](JsonObject& each, const DeviceStatus& device) {
        each.label("device", device.name);
        add_unclaimed_count(each, device.name, snapshot.sections_unclaimed);
    });
    out.map(
        {"last", "ChannelStatusByTopic"}, snapshot.channels,
        [](const ChannelStatus& channel) -> const std::string& { return channel.topic; }, list_channel);
}

void add_tags(JsonObject& out, const Tags& tags) {
    constexpr MetricName metric{"telegate_tags", MetricType::info,
                                "Tags of the gateway as labels; absent without tags."};
    MetricLabels labels;
    for (const Tag& tag : tags) {
        labels.push_back({tag.name, tag.value});
    }
    if (out.describes()) {
        out.add_metric(metric, 1, {{"each tag", ""}});
    } else if (!labels.empty()) {
        out.add_metric(metric, 1, labels);
    }
}

}  // namespace

void list_status(JsonObject& out, const StatusSnapshot& snapshot) {
    out.name_schema("Status");
    out.add("name", Described{"telegate", R"({"const":"telegate"})"});
    out.add("version", build_info::version);
    out.object("build", [](JsonObject& build) {
        build.name_schema("Build");
        build.add("type", build_info::type);
        build.add("compiler", build_info::compiler);
        build.add_metric(
            MetricName{"telegate_build", MetricType::info, "Version and build of the gateway."}, 1,
            {{"version", build_info::version}, {"type", build_info::type}, {"compiler", build_info::compiler}});
    });
    out.add("gateway", snapshot.labels->gateway());
    out.add_metric(MetricName{"telegate_gateway", MetricType::info, "Name of the gateway."}, 1,
                   {{"gateway", snapshot.labels->gateway()}});
    add_tags(out, snapshot.labels->gateway_tags());
    out.add("state", snapshot.state);
    out.add("epoch", static_cast<std::uint64_t>(snapshot.epoch_ms));
    out.add_metric(gauge("telegate_start_time_seconds",
                         "Start time of the gateway, in seconds since 1970; sequence numbers restart with it."),
                   static_cast<double>(snapshot.epoch_ms) / 1e3);
    out.add("time", to_iso8601(snapshot.time_utc_ns));
    out.add("uptime_s", to_seconds(snapshot.uptime));
    out.object("clock", [&](JsonObject& clock) { list_clock(clock, snapshot.clock); });
    out.object("config", [&](JsonObject& config) { list_config(config, snapshot.config); });
    out.array("previous_runs", snapshot.previous_runs,
              [&](JsonObject& each, const PreviousRun& run) { list_previous_run(each, run, snapshot.log); });
    out.object("queue", [&](JsonObject& queue) { list_queue(queue, snapshot); });
    out.object("ledger", [&](JsonObject& ledger) { list_ledgers(ledger, snapshot); });
    out.object("sampler", [&](JsonObject& sampler) { list_sampler(sampler, snapshot); });
    out.array("consumers", snapshot.consumers, list_consumer);
    out.object_or_null("log", snapshot.log, list_log);
    out.array("uplinks", snapshot.uplinks, list_uplink);
    out.metrics_of_each(snapshot.uplinks, list_uplink);
    out.add_metric(counter("telegate_uplink_threads_abandoned",
                           "Threads of uplinks that did not stop in time, for example because a disk did not respond."),
                   snapshot.uplinks_abandoned);
    out.object("transport", [&](JsonObject& transport) { list_transport(transport, snapshot); });
    out.object("services", [&](JsonObject& services) { list_services(services, snapshot.services); });
    out.object("rest", [&](JsonObject& rest) {
        rest.name_schema("Rest");
        rest.add("endpoint", snapshot.rest_endpoint);
    });
    out.object("channels", [&](JsonObject& channels) { list_channels(channels, snapshot); });
}

std::string status_json(const StatusSnapshot& snapshot) {
    std::string text = json_object_text([&](JsonObject& out) { list_status(out, snapshot); }) + '\n';
    text.shrink_to_fit();  // the text is kept for a while
    return text;
}

}  // namespace telegate
