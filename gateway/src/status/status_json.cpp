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
    out.add("problem", text_or_null(last.problem));
}

void list_config(JsonObject& out, const ConfigStatus& config) {
    out.name_schema("SettingsInForce");
    out.add("path", to_readable(config.path));
    out.add("hash", config.hash);
    out.add("generation", Described{config.generation, schema_from_1});
    out.add("loaded_at", to_iso8601(config.loaded_at_utc_ns));
    out.add("differs_from_file", config.differs_from_file);
    out.object_or_null("reverts", config.revert, [](JsonObject& reverts, const PendingRevert& revert) {
        reverts.name_schema("PendingRevert");
        reverts.add("generation", Described{revert.generation, schema_from_1});
        reverts.add("time", to_iso8601(revert.at_utc_ns));
    });
    out.object_or_null("last_reload", config.last_reload, list_last_reload);
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
    out.add("synchronized", if_known(reading.sync == ClockSync::synchronized));
    out.add("estimated_error_s", if_known(reading.error_estimated_s));
    out.add("maximum_error_s", if_known(reading.error_maximum_s));
    out.add("frequency_ppm", if_known(reading.frequency_ppm));
    out.add("problem", text_or_null(problem));
    out.add("steps", clock.steps);
    out.object_or_null("last_step", clock.last_step, [](JsonObject& last, const ClockStep& step) {
        last.name_schema("ClockStep");
        last.add("time", to_iso8601(step.time_utc_ns));
        last.add("seconds", step.seconds);
    });
    out.add("offset_ns", clock.offset_ns);
}

void list_queue(JsonObject& out, const StatusSnapshot& snapshot) {
    out.name_schema("Queue");
    out.add("depth", snapshot.queue_depth);
    out.add("capacity", snapshot.queue_capacity);
    out.add("high_water", snapshot.queue_high_water);
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
    out.add("balanced", balanced);
    out.object("total", [&](JsonObject& counts) { list_ledger(counts, total); });
    out.map(
        {"devices", "LedgerByDevice"}, devices, [](const DeviceLedger& each) { return each.first; },
        [](JsonObject& counts, const DeviceLedger& each) { list_ledger(counts, each.second, each.second.balanced()); });
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

void list_transport(JsonObject& out, const StatusSnapshot& snapshot) {
    const PublisherTotals& totals = snapshot.publisher;
    out.name_schema("Transport");
    out.values("endpoints", snapshot.endpoints, [](const EndpointStatus& each) { return each.endpoint; });
    out.values("formats", snapshot.endpoints, [](const EndpointStatus& each) {
        return Described{to_string(each.format), R"({"$ref":"#/components/schemas/Format"})"};
    });
    out.array("security", snapshot.endpoints, [](JsonObject& security, const EndpointStatus& each) {
        list_security(security, each.curve_key, each.clients);
    });
    out.array("delivery", snapshot.endpoints, list_delivery);
    out.add("messages", totals.messages);
    add_connections(out, totals);
    out.add("subscribers_revoked", snapshot.subscribers_revoked);
    out.add("gap_overflows", snapshot.gap_overflows);
    out.add("subscriptions", totals.subscriptions);
    out.add("subscriptions_refused", totals.subscriptions_refused);
    out.add("received", totals.received);
    add_deliveries(out, totals);
    out.counts<LossReason>("lost", totals.lost);
    out.map(
        {"notices", "NoticesByFormat"}, payload_format_names.values,
        [](PayloadFormat format) { return to_string(format); },
        [&](JsonObject& notices, PayloadFormat format) {
            const NoticeTotals& sent = snapshot.notices[static_cast<std::size_t>(format)];
            notices.name_schema("Notices");
            notices.add("gaps", sent.gaps);
            notices.add("beats", sent.heartbeats);
        });
    out.array("subscribers", snapshot.subscribers,
              [](JsonObject& each, const SubscriberStatus& subscriber) { list_subscriber(each, subscriber); });
}

void list_sampler(JsonObject& out, const StatusSnapshot& snapshot) {
    const ThreadSchedule& schedule = snapshot.sampling_schedule;
    out.name_schema("Sampler");
    out.add("realtime_priority", static_cast<std::uint64_t>(schedule.realtime_priority));
    out.add("cpu_affinity", schedule.processors);
    out.array("devices", shown_devices(snapshot, false), list_device);
}

void list_channels(JsonObject& out, const StatusSnapshot& snapshot) {
    out.name_schema("AllChannelStatus");
    out.add("refused", snapshot.channels_refused);
    out.add("unclaimed", snapshot.sections_unclaimed);
    out.map(
        {"last", "ChannelStatusByTopic"}, snapshot.channels,
        [](const ChannelStatus& channel) -> const std::string& { return channel.topic; }, list_channel);
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
    });
    out.add("state", snapshot.state);
    out.add("epoch", static_cast<std::uint64_t>(snapshot.epoch_ms));
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
