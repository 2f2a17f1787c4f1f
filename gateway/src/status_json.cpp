#include "status_json.hpp"

#include "readable_bytes.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;  // keeps the documented order

#ifdef __clang__
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "gcc " __VERSION__;
#endif

double to_seconds(std::chrono::nanoseconds duration) {
    return std::chrono::duration<double>(duration).count();
}

// "2026-11-20T23:11:34.123456789Z"; floors, so that times before 1970 come out right too.
std::string to_iso8601(std::int64_t time_utc_ns) {
    using namespace std::chrono;
    const sys_time<nanoseconds> time{nanoseconds(time_utc_ns)};
    const auto whole = floor<seconds>(time);
    const std::time_t whole_s = whole.time_since_epoch().count();
    std::tm parts{};
    ::gmtime_r(&whole_s, &parts);
    std::array<char, 32> date{};
    const std::size_t date_bytes = std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    std::array<char, 16> fraction{};
    std::snprintf(fraction.data(), fraction.size(), ".%09dZ", static_cast<int>((time - whole).count()));
    return std::string(date.data(), date_bytes) + fraction.data();
}

Json config_json(const ConfigStatus& config) {
    Json json{{"path", to_readable(config.path)},
              {"hash", config.hash},
              {"generation", config.generation},
              {"loaded_at", to_iso8601(config.loaded_at_utc_ns)},
              {"last_reload", nullptr}};
    if (const auto& last = config.last_reload) {
        json["last_reload"] = {{"time", to_iso8601(last->time_utc_ns)},
                               {"who", last->who},
                               {"outcome", to_string(last->outcome)},
                               {"changes_count", last->changes_count},
                               {"problem", nullptr}};
        if (!last->problem.empty()) {
            json["last_reload"]["problem"] = last->problem;
        }
    }
    return json;
}

Json queue_json(const StatusSnapshot& snapshot) {
    return {{"depth", snapshot.queue_depth},
            {"capacity", snapshot.queue_capacity},
            {"high_water", snapshot.queue_high_water},
            {"policy", to_string(snapshot.queue_policy)}};
}

Json book_json(const Books& book) {
    Json dropped = Json::object();
    for (std::size_t reason = 0; reason < drop_reasons; ++reason) {
        dropped[std::string(to_string(static_cast<DropReason>(reason)))] = book.dropped[reason];
    }
    return {{"sampled", book.sampled},
            {"published", book.published},
            {"filtered", book.filtered},
            {"queued", book.queued},
            {"dropped", std::move(dropped)}};
}

Json books_json(const StatusSnapshot& snapshot) {
    Books total;
    bool balanced = snapshot.queue_agrees;
    Json devices = Json::object();
    for (std::size_t device = 0; device < std::min(snapshot.books.size(), snapshot.devices.size()); ++device) {
        const Books& book = snapshot.books[device];
        Json json = book_json(book);
        json["balanced"] = book.balanced();
        devices[snapshot.devices[device].name] = std::move(json);
        total += book;
        balanced = balanced && book.balanced();
    }
    total += snapshot.books_removed;
    balanced = balanced && snapshot.books_removed.balanced();
    return {{"balanced", balanced}, {"total", book_json(total)}, {"devices", std::move(devices)}};
}

/// A whole number of milliseconds where it is one.
Json interval_json(Duration interval) {
    const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(interval);
    return whole == interval ? Json(whole.count()) : Json(std::chrono::duration<double, std::milli>(interval).count());
}

Json device_json(const DeviceStatus& device) {
    Json json{{"name", device.name},
              {"state", to_string(device.state)},
              {"interval_ms", interval_json(device.interval)},
              {"channels", device.channels},
              {"reads", device.reads},
              {"reads_failed", device.reads_failed},
              {"ticks_missed", device.ticks_missed},
              {"last_error", nullptr},
              {"lateness_s",
               {{"p50", to_seconds(device.lateness_p50)},
                {"p99", to_seconds(device.lateness_p99)},
                {"max", to_seconds(device.lateness_max)}}}};
    if (!device.last_error.empty()) {
        json["last_error"] = device.last_error;
    }
    return json;
}

// The four counts that PeerStatus and PublisherTotals share.
template <class Counts>
void add_deliveries(Json& json, const Counts& counts) {
    json["matched"] = counts.matched;
    json["sent"] = counts.sent;
    json["dropped"] = counts.dropped;
    json["pending"] = counts.pending;
    json["balanced"] = counts.matched == counts.sent + counts.dropped + counts.pending;
}

Json subscriber_json(const SubscriberStatus& subscriber) {
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
    add_deliveries(json, subscriber);
    json["backlog_bytes"] = subscriber.backlog_bytes;
    json["received"] = subscriber.received;
    json["zmtp"] = "3." + std::to_string(subscriber.zmtp_minor);
    json["mechanism"] = subscriber.mechanism;
    json["silent_ms"] = subscriber.silent.count();
    json["round_trip_s"] = subscriber.round_trip ? Json(to_seconds(*subscriber.round_trip)) : Json(nullptr);
    return json;
}

Json transport_json(const StatusSnapshot& snapshot) {
    const PublisherTotals& totals = snapshot.publisher;
    Json endpoints = Json::array();
    Json formats = Json::array();
    for (const EndpointStatus& endpoint : snapshot.endpoints) {
        endpoints.push_back(endpoint.endpoint);
        formats.push_back(to_string(endpoint.format));
    }
    Json json{{"endpoints", std::move(endpoints)},
              {"formats", std::move(formats)},
              {"messages", totals.messages},
              {"connections_accepted", totals.connections_accepted},
              {"connections_refused", totals.connections_refused},
              {"accept_errors", totals.accept_errors},
              {"handshakes_failed", totals.handshakes_failed},
              {"violations", totals.violations},
              {"silences", totals.silences},
              {"subscriptions", totals.subscriptions},
              {"subscriptions_refused", totals.subscriptions_refused},
              {"received", totals.received}};
    add_deliveries(json, totals);
    Json subscribers = Json::array();
    for (const SubscriberStatus& subscriber : snapshot.subscribers) {
        subscribers.push_back(subscriber_json(subscriber));
    }
    json["subscribers"] = std::move(subscribers);
    return json;
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

Json channel_json(const ChannelStatus& channel) {
    Json json{{"seq", channel.last.seq},
              {"time", channel.last.seq == 0 ? Json() : Json(to_iso8601(channel.last.time_utc_ns))},
              {"value", value_json(channel.last)},
              {"unit", channel.unit},
              {"quality", to_string(channel.last.quality)}};
    if (channel.drops.count > 0) {
        json["drops"] = {{"count", channel.drops.count},
                         {"first_seq", channel.drops.first_seq},
                         {"last_seq", channel.drops.last_seq}};
    }
    return json;
}

Json channels_json(const StatusSnapshot& snapshot) {
    Json last = Json::object();
    // Topics are unique. Members are appended below operator[], which searches all of them each time: with the most
    // channels that there can be, that is minutes.
    auto& members = last.get_ref<Json::object_t&>();
    members.reserve(snapshot.channels.size());
    for (const ChannelStatus& channel : snapshot.channels) {
        members.emplace_back(channel.topic, channel_json(channel));
    }
    return {{"refused", snapshot.channels_refused}, {"last", std::move(last)}};
}

}  // namespace

std::string status_json(const StatusSnapshot& snapshot) {
    Json devices = Json::array();
    for (const DeviceStatus& device : snapshot.devices) {
        devices.push_back(device_json(device));
    }
    Json json;
    json["name"] = "telegate";
    json["version"] = TELEGATE_VERSION;
    json["build"] = {{"type", TELEGATE_BUILD_TYPE}, {"compiler", compiler}};
    json["state"] = to_string(snapshot.state);
    json["epoch"] = snapshot.epoch_ms;
    json["time"] = to_iso8601(snapshot.time_utc_ns);
    json["uptime_s"] = to_seconds(snapshot.uptime);
    json["config"] = config_json(snapshot.config);
    json["queue"] = queue_json(snapshot);
    json["books"] = books_json(snapshot);
    json["sampler"] = {{"realtime_priority", snapshot.sampling_schedule.realtime_priority},
                       {"cpu_affinity", snapshot.sampling_schedule.processors},
                       {"devices", std::move(devices)}};
    json["transport"] = transport_json(snapshot);
    json["rest"] = {{"endpoint", snapshot.rest_endpoint}};
    json["channels"] = channels_json(snapshot);
    // A text value or an error text may hold any bytes.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace telegate
