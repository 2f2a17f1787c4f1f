#include "status/status_json.hpp"

#include "base/build_info.hpp"
#include "base/readable_bytes.hpp"
#include "encode/time_text.hpp"
#include "status/status_parts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;  // keeps the documented order

Json config_json(const ConfigStatus& config) {
    Json json{{"path", to_readable(config.path)},
              {"hash", config.hash},
              {"generation", config.generation},
              {"loaded_at", to_iso8601(config.loaded_at_utc_ns)},
              {"differs_from_file", nullptr},
              {"reverts", nullptr},
              {"last_reload", nullptr}};
    if (config.differs_from_file) {
        json["differs_from_file"] = *config.differs_from_file;
    }
    if (config.revert) {
        json["reverts"] = {{"generation", config.revert->generation}, {"time", to_iso8601(config.revert->at_utc_ns)}};
    }
    if (const auto& last = config.last_reload) {
        json["last_reload"] = {{"time", to_iso8601(last->time_utc_ns)},
                               {"by", last->who},
                               {"outcome", to_string(last->outcome)},
                               {"changes_count", last->changes_count},
                               {"problem", nullptr}};
        if (!last->problem.empty()) {
            json["last_reload"]["problem"] = last->problem;
        }
    }
    return json;
}

Json logged_run_json(const LoggedRun& run) {
    return {{"last_sample", run.last_sample_ns == 0 ? Json(nullptr) : Json(to_iso8601(run.last_sample_ns))},
            {"captured", run.captured},
            {"lost", run.lost}};
}

Json past_starts_json(const std::vector<PreviousRun>& starts, const std::optional<DurableLogStatus>& log) {
    constexpr std::int64_t ns_per_ms = 1'000'000;
    Json list = Json::array();
    for (const PreviousRun& start : starts) {
        Json json{{"epoch", start.epoch_ms},
                  {"stopped_cleanly", start.has_ended},
                  {"last_known", nullptr},
                  {"ledger", nullptr},
                  {"log", nullptr}};
        if (log && log->previous_run && log->previous_run->epoch_ms == start.epoch_ms) {
            json["log"] = logged_run_json(*log->previous_run);
        }
        if (start.ledger) {
            json["last_known"] = to_iso8601(start.ledger->time_utc_ms * ns_per_ms);
            json["ledger"] = ledger_json(start.ledger->counts);
            json["ledger"]["balanced"] = start.ledger->counts.balanced();
        }
        list.push_back(std::move(json));
    }
    return list;
}

Json clock_json(const ClockStatus& clock) {
    const ClockReading& reading = clock.reading;
    Json json{{"synchronized", nullptr},  {"estimated_error_s", nullptr}, {"maximum_error_s", nullptr},
              {"frequency_ppm", nullptr}, {"problem", nullptr},           {"steps", clock.steps},
              {"last_step", nullptr},     {"offset_ns", clock.offset_ns}};
    if (reading.sync != ClockSync::unknown) {
        json["synchronized"] = reading.sync == ClockSync::synchronized;
        json["estimated_error_s"] = reading.error_estimated_s;
        json["maximum_error_s"] = reading.error_maximum_s;
        json["frequency_ppm"] = reading.frequency_ppm;
    } else if (reading.failure != 0) {
        json["problem"] = "adjtimex: " + std::generic_category().message(reading.failure);
    }
    if (clock.last_step) {
        json["last_step"] = {{"time", to_iso8601(clock.last_step->time_utc_ns)}, {"seconds", clock.last_step->seconds}};
    }
    return json;
}

Json queue_json(const StatusSnapshot& snapshot) {
    return {{"depth", snapshot.queue_depth},
            {"capacity", snapshot.queue_capacity},
            {"high_water", snapshot.queue_high_water},
            {"policy", to_string(snapshot.queue_policy)}};
}

Json all_ledgers_json(const StatusSnapshot& snapshot) {
    LedgerCounts total;
    bool balanced = snapshot.queue_agrees && snapshot.channels_agree;
    Json devices = Json::object();
    for (std::size_t device = 0; device < std::min(snapshot.ledger.size(), snapshot.devices.size()); ++device) {
        const LedgerCounts& entry = snapshot.ledger[device];
        Json json = ledger_json(entry);
        json["balanced"] = entry.balanced();
        devices[snapshot.devices[device].name] = std::move(json);
        total += entry;
        balanced = balanced && entry.balanced();
    }
    total += snapshot.ledger_removed;
    balanced = balanced && snapshot.ledger_removed.balanced();
    return {{"balanced", balanced}, {"total", ledger_json(total)}, {"devices", std::move(devices)}};
}

Json consumers_json(const std::vector<ConsumerStatus>& consumers) {
    Json json = Json::array();
    for (const ConsumerStatus& consumer : consumers) {
        json.push_back(
            {{"name", consumer.name}, {"taken", consumer.ledger.taken}, {"missing", consumer.ledger.missing}});
    }
    return json;
}

Json recorders_json(const std::vector<DurableLogStatus>& recorders) {
    Json json = Json::array();
    for (const DurableLogStatus& recorder : recorders) {
        json.push_back({{"path", to_readable(recorder.path)},
                        {"device", recorder.device.empty() ? Json(nullptr) : Json(recorder.device)},
                        {"samples", recorder.log.samples},
                        {"lost", recorder.lost},
                        {"pending", recorder.pending},
                        {"bytes", recorder.log.written_bytes},
                        {"error", recorder.error.empty() ? Json(nullptr) : Json(to_readable(recorder.error))}});
    }
    return json;
}

Json delivery_json(const EndpointStatus& endpoint) {
    return {{"policy", to_string(endpoint.delivery.policy)},
            {"backlog_bytes", endpoint.delivery.backlog_bytes_max},
            {"backlog_age_ms", endpoint.delivery.backlog_age_max.count()},
            {"last_value", endpoint.last_value}};
}

Json lost_json(const PublisherTotals& totals) {
    Json json = Json::object();
    for (std::size_t reason = 0; reason < loss_reasons; ++reason) {
        json[std::string(to_string(static_cast<LossReason>(reason)))] = totals.lost[reason];
    }
    return json;
}

Json notices_json(const NoticesByFormat& notices) {
    Json json = Json::object();
    for (std::size_t format = 0; format < notices.size(); ++format) {
        json[std::string(to_string(static_cast<PayloadFormat>(format)))] = {{"gaps", notices[format].gaps},
                                                                            {"beats", notices[format].beats}};
    }
    return json;
}

Json transport_json(const StatusSnapshot& snapshot) {
    const PublisherTotals& totals = snapshot.publisher;
    Json endpoints = Json::array();
    Json formats = Json::array();
    Json security = Json::array();
    Json delivery = Json::array();
    for (const EndpointStatus& endpoint : snapshot.endpoints) {
        endpoints.push_back(endpoint.endpoint);
        formats.push_back(to_string(endpoint.format));
        security.push_back(security_json(endpoint.curve_key, endpoint.clients));
        delivery.push_back(delivery_json(endpoint));
    }
    Json json{{"endpoints", std::move(endpoints)},
              {"formats", std::move(formats)},
              {"security", std::move(security)},
              {"delivery", std::move(delivery)},
              {"messages", totals.messages},
              {"connections_accepted", totals.connections_accepted},
              {"connections_refused", totals.connections_refused},
              {"accept_errors", totals.accept_errors},
              {"handshakes_failed", totals.handshakes_failed},
              {"violations", totals.violations},
              {"heartbeat_timeouts", totals.heartbeat_timeouts},
              {"subscribers_revoked", snapshot.subscribers_revoked},
              {"gap_overflows", snapshot.gap_overflows},
              {"subscriptions", totals.subscriptions},
              {"subscriptions_refused", totals.subscriptions_refused},
              {"received", totals.received}};
    add_deliveries(json, {totals.matched, totals.sent, totals.dropped, totals.pending});
    json["lost"] = lost_json(totals);
    json["notices"] = notices_json(snapshot.notices);
    Json subscribers = Json::array();
    for (const SubscriberStatus& subscriber : snapshot.subscribers) {
        subscribers.push_back(subscriber_json(subscriber));
    }
    json["subscribers"] = std::move(subscribers);
    return json;
}

/// A text value or an error text may contain any bytes.
std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Converts the channels to text one by one: as JSON values the maximum number of them would take 60 MB, ten times as
/// much.
std::string channels_text(const StatusSnapshot& snapshot) {
    std::string out = "{\"refused\":" + std::to_string(snapshot.channels_refused) +
                      ",\"unclaimed\":" + text_of(snapshot.sections_unclaimed) + ",\"last\":{";
    for (const ChannelStatus& channel : snapshot.channels) {
        out += out.back() == '{' ? "\"" : ",\"";
        out += channel.topic + "\":" + text_of(channel_json(channel));
    }
    return out + "}}";
}

using Json = nlohmann::ordered_json;

Json errors_json(const std::vector<SettingsProblem>& problems) {
    Json errors = Json::array();
    for (const SettingsProblem& problem : problems) {
        const bool has_pointer = problem.place.name.empty() && problem.key.starts_with('/');
        Json error =
            has_pointer ? Json{{"pointer", problem.key}, {"detail", problem.what}} : Json{{"detail", problem.text()}};
        errors.push_back(std::move(error));
    }
    return errors;
}

}  // namespace

std::string status_json(const StatusSnapshot& snapshot) {
    Json devices = Json::array();
    for (std::size_t device = 0; device < snapshot.devices.size(); ++device) {
        devices.push_back(device_json(snapshot, device));
    }
    // converting null to an object may throw bad_alloc and leave a value that cannot be destroyed
    Json json = Json::object();
    json["name"] = "telegate";
    json["version"] = build_info::version;
    json["build"] = {{"type", build_info::type}, {"compiler", build_info::compiler}};
    json["state"] = to_string(snapshot.state);
    json["epoch"] = snapshot.epoch_ms;
    json["time"] = to_iso8601(snapshot.time_utc_ns);
    json["uptime_s"] = to_seconds(snapshot.uptime);
    json["clock"] = clock_json(snapshot.clock);
    json["config"] = config_json(snapshot.config);
    json["previous_runs"] = past_starts_json(snapshot.previous_runs, snapshot.log);
    json["queue"] = queue_json(snapshot);
    json["ledger"] = all_ledgers_json(snapshot);
    json["sampler"] = {{"realtime_priority", snapshot.sampling_schedule.realtime_priority},
                       {"cpu_affinity", snapshot.sampling_schedule.processors},
                       {"devices", std::move(devices)}};
    json["consumers"] = consumers_json(snapshot.consumers);
    json["recorders"] = recorders_json(snapshot.recorders);
    json["log"] = snapshot.log ? log_json(*snapshot.log) : Json(nullptr);
    json["uplinks"] = uplinks_json(snapshot.uplinks);
    json["transport"] = transport_json(snapshot);
    json["services"] = services_json(snapshot.services);
    json["rest"] = {{"endpoint", snapshot.rest_endpoint}};
    std::string text = text_of(json);
    text.back() = ',';
    text += "\"channels\":" + channels_text(snapshot) + "}\n";
    text.shrink_to_fit();  // the text is kept for a while
    return text;
}

nlohmann::ordered_json change_json(const SettingChange& change) {
    Json json{{"key", key_text(change)}, {"kind", to_string(change.kind)}};
    if (change.kind == SettingChange::Kind::changed) {
        json["from"] = change.from;
        json["to"] = change.to;
    }
    json["applies"] = to_string(change.applies);
    return json;
}

nlohmann::ordered_json report_json(const ReloadReport& report) {
    Json changes = Json::array();
    Json restarts = Json::array();
    for (const SettingChange& change : report.changes) {
        changes.push_back(change_json(change));
        if (change.applies == Applies::restart) {
            restarts.push_back(key_text(change));
        }
    }
    return {{"outcome", to_string(report.outcome)},
            {"generation", report.generation},
            {"changes", std::move(changes)},
            {"needs_restart", std::move(restarts)},
            {"errors", errors_json(report.problems)},
            {"credentials", to_string(report.credentials)},
            {"reverts_at", report.reverts_at_utc_ns ? Json(to_iso8601(*report.reverts_at_utc_ns)) : Json()}};
}

}  // namespace telegate
