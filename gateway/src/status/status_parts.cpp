#include "status/status_parts.hpp"

#include "base/readable_bytes.hpp"
#include "encode/time_text.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <cmath>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;  // keeps the documented order

/// Returns milliseconds, as a whole number if possible.
Json interval_json(Duration interval) {
    const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(interval);
    return whole == interval ? Json(whole.count()) : Json(std::chrono::duration<double, std::milli>(interval).count());
}

Json value_json(const TelemetrySample& sample) {
    switch (sample.type) {
        case ValueType::none: return nullptr;
        case ValueType::real: return std::isfinite(sample.value.real) ? Json(sample.value.real) : Json(nullptr);
        case ValueType::integer: return sample.value.integer;
        case ValueType::boolean: return sample.value.boolean;
        case ValueType::text: return sample.text();
    }
    return nullptr;
}

Json filtered_json(const FilterCounts& counts) {
    Json json = Json::object();
    for (std::size_t reason = 0; reason < filter_reasons; ++reason) {
        json[std::string(to_string(static_cast<FilterReason>(reason)))] = counts[reason];
    }
    return json;
}

/// Returns the drops by reason, without empty ones.
Json drops_json(const std::array<ChannelDrops, drop_reasons>& drops) {
    Json json = Json::object();
    for (std::size_t reason = 0; reason < drop_reasons; ++reason) {
        if (const ChannelDrops& lost = drops[reason]; lost.count > 0) {
            json[std::string(to_string(static_cast<DropReason>(reason)))] = {
                {"count", lost.count},
                {"first_seq", lost.first_seq},
                {"last_seq", lost.last_seq},
                {"first_time", to_iso8601(lost.first_utc_ns)},
                {"last_time", to_iso8601(lost.last_utc_ns)}};
        }
    }
    return json;
}

}  // namespace

nlohmann::ordered_json ledger_json(const LedgerCounts& entry) {
    Json dropped = Json::object();
    for (std::size_t reason = 0; reason < drop_reasons; ++reason) {
        dropped[std::string(to_string(static_cast<DropReason>(reason)))] = entry.dropped[reason];
    }
    return {{"sampled", entry.sampled},
            {"published", entry.published},
            {"filtered", entry.filtered},
            {"queued", entry.queued},
            {"dropped", std::move(dropped)}};
}

nlohmann::ordered_json device_json(const StatusSnapshot& snapshot, std::size_t index) {
    const DeviceStatus& device = snapshot.devices[index];
    const auto time_or_null = [](std::int64_t utc_ns) {
        return utc_ns == 0 ? Json(nullptr) : Json(to_iso8601(utc_ns));
    };
    Json json{{"name", device.name},
              {"state", to_string(device.state)},
              {"interval_ms", interval_json(device.interval)},
              {"channels", device.channels},
              {"reads", device.reads},
              {"reads_failed", device.reads_failed},
              {"ticks_missed", device.ticks_missed},
              {"reads_skipped", device.reads_skipped},
              {"consecutive_failures", device.consecutive_failures},
              {"lost_at_source", device.lost_at_source},
              {"filtered_by", filtered_json(device.filtered_by)},
              {"thread", device.thread},
              {"breaker", device.breaker ? Json(to_string(*device.breaker)) : Json(nullptr)},
              {"last_error", nullptr},
              {"refused", device.refused},
              {"last_refused", nullptr},
              {"last_refused_time", nullptr},
              {"last_error_current", device.is_error_current},
              {"last_error_time", time_or_null(device.last_error_utc_ns)},
              {"last_good_time", time_or_null(device.last_good_utc_ns)},
              {"state_since", time_or_null(device.state_since_utc_ns)},
              {"outages", device.outages},
              {"samples_bad", device.samples_bad},
              {"channels_bad", index < snapshot.channels_bad.size() ? snapshot.channels_bad[index] : 0},
              {"lateness_s",
               {{"p50", to_seconds(device.lateness_p50)},
                {"p99", to_seconds(device.lateness_p99)},
                {"max", to_seconds(device.lateness_max)}}}};
    if (!device.last_error.empty()) {
        json["last_error"] = device.last_error;
    }
    if (!device.last_refused.empty()) {
        json["last_refused"] = to_readable(device.last_refused);
        json["last_refused_time"] = to_iso8601(device.last_refused_utc_ns);
    }
    return json;
}

nlohmann::ordered_json security_json(const std::string& curve_key, std::optional<std::size_t> clients) {
    if (curve_key.empty()) {
        return {{"mechanism", "NULL"}};
    }
    return {{"mechanism", "CURVE"}, {"public_key", curve_key}, {"clients", clients ? Json(*clients) : Json(nullptr)}};
}

nlohmann::ordered_json channel_json(const ChannelStatus& channel) {
    Json json{{"seq", channel.last.seq},
              {"time", channel.last.seq == 0 ? Json() : Json(to_iso8601(channel.last.time_utc_ns))},
              {"value", value_json(channel.last)},
              {"unit", channel.unit},
              {"quality", to_string(channel.last.quality)}};
    if (Json drops = drops_json(channel.drops); !drops.empty()) {
        json["drops"] = std::move(drops);
    }
    return json;
}

nlohmann::ordered_json channel_ledger_json(const ChannelLedgerCounts& counts) {
    Json json = ledger_json(counts);
    json["drops"] = drops_json(counts.drops);
    return json;
}

void add_deliveries(nlohmann::ordered_json& json, const DeliveryCounts& counts) {
    json["matched"] = counts.matched;
    json["sent"] = counts.sent;
    json["dropped"] = counts.dropped;
    json["pending"] = counts.pending;
    json["balanced"] = counts.matched == counts.sent + counts.dropped + counts.pending;
}

namespace {

Json lost_sample_json(const LostSample& sample, std::int64_t time_utc_ns) {
    return {{"topic", sample.seq == 0 ? Json(nullptr) : Json(sample.topic)},
            {"seq", sample.seq == 0 ? Json(nullptr) : Json(sample.seq)},
            {"time", time_utc_ns == 0 ? Json(nullptr) : Json(to_iso8601(time_utc_ns))}};
}

/// Returns the last lost samples by reason, without empty ones.
Json losses_json(const SubscriberStatus& subscriber) {
    Json json = Json::object();
    for (std::size_t reason = 0; reason < loss_reasons; ++reason) {
        const Losses& losses = subscriber.losses[reason];
        if (losses.count > 0) {
            const auto& [first, last] = subscriber.lost[reason];
            json[std::string(to_string(static_cast<LossReason>(reason)))] = {
                {"count", losses.count},
                {"first", lost_sample_json(first, losses.first_utc_ns)},
                {"last", lost_sample_json(last, losses.last_utc_ns)}};
        }
    }
    return json;
}

}  // namespace

nlohmann::ordered_json subscriber_json(const SubscriberStatus& subscriber) {
    Json subscriptions = Json::array();
    for (const std::string& subscription : subscriber.subscriptions) {
        subscriptions.push_back(to_readable(subscription));
    }
    Json json{{"id", subscriber.id},
              {"endpoint", subscriber.endpoint},
              {"format", to_string(subscriber.format)},
              {"peer", subscriber.peer},
              {"subscriptions", std::move(subscriptions)},
              {"subscriptions_count", subscriber.subscriptions_count}};
    add_deliveries(json, {subscriber.matched, subscriber.sent, subscriber.dropped, subscriber.pending});
    json["losses"] = losses_json(subscriber);
    json["backlog_bytes"] = subscriber.backlog_bytes;
    json["blocking"] = subscriber.blocking;
    json["received"] = subscriber.received;
    json["zmtp"] = "3." + std::to_string(subscriber.zmtp_minor);
    json["mechanism"] = subscriber.mechanism;
    json["curve_key"] = subscriber.curve_key.empty() ? Json(nullptr) : Json(subscriber.curve_key);
    json["client"] = subscriber.curve_name.empty() ? Json(nullptr) : Json(to_readable(subscriber.curve_name));
    json["idle_ms"] = subscriber.silent.count();
    json["round_trip_s"] = subscriber.round_trip ? Json(to_seconds(*subscriber.round_trip)) : Json(nullptr);
    return json;
}

nlohmann::ordered_json log_json(const DurableLogStatus& log) {
    return {{"path", to_readable(log.path)},
            {"segments", log.log.segments},
            {"bytes", log.log.bytes},
            {"oldest_position", log.log.oldest},
            {"oldest_time", log.oldest_utc_ns == 0 ? Json(nullptr) : Json(to_iso8601(log.oldest_utc_ns))},
            {"next_position", log.log.next},
            {"synced_position", log.log.synced},
            {"samples", log.log.samples},
            {"pending", log.pending},
            {"dropped", {{"log_slow", log.lost}, {"log_full", log.log.dropped_full}}},
            {"written_bytes", log.log.written_bytes},
            {"day", log.log.day_ns == 0 ? Json(nullptr) : Json(to_iso8601(log.log.day_ns))},
            {"day_bytes", log.log.day_bytes},
            {"segments_removed", log.log.segments_removed},
            {"full", log.log.is_full},
            {"reads",
             {{"pages", log.reads.pages},
              {"samples", log.reads.samples},
              {"refused", log.reads.refused},
              {"late", log.reads.late},
              {"failed", log.reads.failed}}},
            {"error", log.error.empty() ? Json(nullptr) : Json(to_readable(log.error))}};
}

}  // namespace telegate
