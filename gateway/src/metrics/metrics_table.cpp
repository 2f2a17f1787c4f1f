#include "metrics/metrics_table.hpp"

#include "base/json_object.hpp"
#include "base/readable_bytes.hpp"
#include "encode/time_text.hpp"
#include "status/status_json.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

// The metrics that GET /status does not contain.

namespace telegate {
namespace {

/// The subscribers of an endpoint. Individual subscribers are in GET /subscribers: as metrics, each reconnect would
/// create a series that Prometheus keeps.
struct EndpointFigures {
    std::uint64_t subscribers = 0;
    std::uint64_t blocking = 0;
    std::uint64_t backlog_bytes = 0;
    std::uint64_t backlog_bytes_max = 0;
    double idle_s_max = 0;
    std::map<std::string, std::uint64_t> clients = {};  // connections by CURVE client
};
using FiguresByEndpoint = std::map<std::pair<std::string, PayloadFormat>, EndpointFigures>;

FiguresByEndpoint endpoint_figures(const StatusSnapshot& snapshot) {
    FiguresByEndpoint by_endpoint;
    for (const EndpointStatus& endpoint : snapshot.endpoints) {
        by_endpoint[{endpoint.endpoint, endpoint.format}] = {};
    }
    for (const SubscriberStatus& subscriber : snapshot.subscribers) {
        EndpointFigures& figures = by_endpoint[{subscriber.endpoint, subscriber.format}];
        ++figures.subscribers;
        figures.blocking += subscriber.blocking ? 1 : 0;
        figures.backlog_bytes += subscriber.backlog_bytes;
        figures.backlog_bytes_max = std::max<std::uint64_t>(figures.backlog_bytes_max, subscriber.backlog_bytes);
        figures.idle_s_max = std::max(figures.idle_s_max, to_seconds(subscriber.silent));
        if (!subscriber.curve_name.empty()) {
            ++figures.clients[to_readable(subscriber.curve_name)];
        }
    }
    return by_endpoint;
}

void list_endpoint(JsonObject& out, const FiguresByEndpoint::value_type& endpoint) {
    const EndpointFigures& figures = endpoint.second;
    out.label("endpoint", endpoint.first.first);
    out.label("format", to_string(endpoint.first.second));
    out.add_metric(gauge("telegate_subscribers", "Connected subscribers."), figures.subscribers);
    out.metrics_of_each(figures.clients, [](JsonObject& each, const auto& client) {
        each.add_metric(gauge("telegate_subscribers_by_client",
                              "Connected subscribers by CURVE client: NAME of its key file NAME.public. Clients "
                              "without a connection are omitted."),
                        client.second, {{"client", client.first}});
    });
    out.add_metric(gauge("telegate_subscribers_blocking", "Blocking subscribers that publishing is waiting for."),
                   figures.blocking);
    out.add_metric(gauge("telegate_subscribers_backlog_bytes", "Bytes waiting to be sent to all subscribers."),
                   figures.backlog_bytes);
    out.add_metric(gauge("telegate_subscriber_backlog_max_bytes",
                         "Bytes waiting to be sent to the slowest subscriber; see GET /subscribers."),
                   figures.backlog_bytes_max);
    out.add_metric(gauge("telegate_subscriber_idle_max_seconds", "Longest time without data from a subscriber."),
                   figures.idle_s_max);
}

void list_events(JsonObject& out, const EventCounts& counts) {
    constexpr MetricName metric =
        counter("telegate_events",
                "Events of devices and alarms by outcome: added to GET /events, suppressed, or "
                "overwritten there.",
                "outcome");
    out.add_metric(metric, counts.added, {{metric.by, "added"}});
    out.add_metric(metric, counts.suppressed, {{metric.by, "suppressed"}});
    out.add_metric(metric, counts.overwritten, {{metric.by, "overwritten"}});
}

void list_rest(JsonObject& out, const MetricsSource& source) {
    out.metrics_of_each(source.requests, [](JsonObject& each, const RequestCount& count) {
        each.add_metric(counter("telegate_rest_requests", "HTTP requests by path and status code."), count.requests,
                        {{"path", count.path}, {"code", std::to_string(count.status)}});
    });
    out.add_metric(gauge("telegate_rest_streams", "Open event streams."), source.streams);
    out.add_metric(
        gauge("telegate_rest_response_bytes",
              "Bytes of response bodies over 16 KiB that are being sent, at most 64 MiB; shared bodies count once."),
        source.http.response_bytes);
    out.add_metric(
        counter(
            "telegate_rest_responses_refused",
            "Responses refused with 503 because clients had not read earlier ones; see telegate_rest_response_bytes."),
        source.http.responses_refused);
    out.add_metric(counter("telegate_rest_requests_refused",
                           "Requests refused with 503 because all workers were busy for too long."),
                   source.http.requests_refused);
}

/// The metrics of quiet channels have no sample if the history does not retain them.
void list_history(JsonObject& out, const History* history) {
    const auto kept = history != nullptr ? history->kept() : nullptr;
    const auto of = [history](auto get) {
        return history != nullptr ? std::optional(get(*history)) : std::nullopt;
    };
    const auto of_kept = [&kept](std::size_t (KeptSamples::*get)() const noexcept) {
        return kept != nullptr ? std::optional(((*kept).*get)()) : std::nullopt;
    };
    out.add_metric(counter("telegate_history_written", "Samples written to the history."),
                   of([](const History& h) { return h.position(); }));
    out.add_metric(gauge("telegate_history_samples", "Samples in the history."),
                   of([](const History& h) { return h.position() - h.oldest(); }));
    out.add_metric(gauge("telegate_history_capacity", "Maximum number of samples in the history."),
                   of([](const History& h) { return h.capacity(); }));
    out.add_metric(
        gauge("telegate_history_quiet_samples",
              "Samples of quiet channels that the history retains in addition, although newer samples have followed."),
        of_kept(&KeptSamples::held));
    out.add_metric(gauge("telegate_history_quiet_capacity",
                         "Maximum number of additional samples of quiet channels in the history."),
                   of_kept(&KeptSamples::capacity));
    out.add_metric(gauge("telegate_history_per_channel",
                         "Minimum number of samples that the history currently retains per channel; less than "
                         "history_per_channel if there are too many quiet channels for history_bytes."),
                   of_kept(&KeptSamples::share));
    out.add_metric(gauge("telegate_history_per_channel_configured", "Value of the setting history_per_channel."),
                   of_kept(&KeptSamples::per_channel));
}

bool has_number(const TelemetrySample& sample) noexcept {
    return sample.seq > 0 &&
           (sample.type == ValueType::real || sample.type == ValueType::integer || sample.type == ValueType::boolean);
}

double number_of(const TelemetrySample& sample) noexcept {
    switch (sample.type) {
        case ValueType::real: return sample.value.real;
        case ValueType::integer: return static_cast<double>(sample.value.integer);
        case ValueType::boolean: return sample.value.boolean ? 1 : 0;
        default: return 0;
    }
}

void list_values(JsonObject& out, const std::vector<ChannelStatus>& channels) {
    std::size_t numbers = 0;
    out.metrics_of_each(channels, [&](JsonObject& each, const ChannelStatus& channel) {
        const std::string_view topic = channel.topic;
        const std::size_t slash = std::min(topic.find('/'), topic.size());
        if (each.describes() || (has_number(channel.last) && ++numbers <= metric_channels_max)) {
            each.add_metric(
                gauge("telegate_channel_value", "Last value of a channel if it is a number or a boolean (0 or 1)."),
                number_of(channel.last),
                {{"device", topic.substr(0, slash)},
                 {"channel", topic.substr(std::min(slash + 1, topic.size()))},
                 {"unit", channel.unit}});
        }
    });
    out.add_metric(gauge("telegate_channel_values_omitted",
                         "Channels that telegate_channel_value omits because it has at most 1000 series."),
                   numbers - std::min(numbers, metric_channels_max));
}

/// Adds the tags of the devices and the channels that have tags of their own.
void list_own_tags(JsonObject& out, const Labels& labels) {
    constexpr MetricName of_device{
        "telegate_device_tags", MetricType::info,
        "Tags as labels of each device that has tags of its own, with those of the gateway."};
    constexpr MetricName of_channel{"telegate_channel_tags", MetricType::info,
                                    "Tags as labels of each channel that has tags of its own, with those of the "
                                    "device and of the gateway; at most 1000 channels."};
    if (out.describes()) {
        out.add_metric(of_device, 1, {{"device", ""}, {"each tag", ""}});
        out.add_metric(of_channel, 1, {{"device", ""}, {"channel", ""}, {"each tag", ""}});
        return;
    }
    std::size_t channels = 0;
    for (const auto& [name, tags] : labels.own_tags()) {
        const std::string_view topic = name;
        const std::size_t slash = topic.find('/');
        const bool is_channel = slash != std::string_view::npos;
        MetricLabels shown{{"device", topic.substr(0, slash)}};
        if (is_channel) {
            shown.push_back({"channel", topic.substr(slash + 1)});
        }
        for (const Tag& tag : tags) {
            if (tag.name != "device" && tag.name != "channel") {  // a label must not occur twice
                shown.push_back({tag.name, tag.value});
            }
        }
        if (!is_channel || ++channels <= metric_channels_max) {
            out.add_metric(is_channel ? of_channel : of_device, 1, shown);
        }
    }
}

void list_process(JsonObject& out, const ProcessFigures& process) {
    out.add_metric(counter("process_cpu_seconds", "Total user and system CPU time."), process.cpu_seconds);
    out.add_metric(gauge("process_start_time_seconds", "Start time of the process, in seconds since 1970."),
                   process.start_time_seconds);
    out.add_metric(gauge("process_resident_memory_bytes", "Resident memory size."), process.resident_bytes);
    out.add_metric(gauge("process_virtual_memory_bytes", "Virtual memory size."), process.virtual_bytes);
    out.add_metric(gauge("process_threads", "Threads."), process.threads);
    out.add_metric(gauge("process_open_fds", "Open file descriptors."), process.open_descriptors);
    out.add_metric(gauge("process_max_fds", "Maximum number of open file descriptors."), process.descriptors_max);
}

void list_alarm(JsonObject& out, const ChannelAlarm& alarm) {
    constexpr MetricName active =
        gauge("telegate_alarm_active", "1 if the channel's alarm is active at this level (high or low), 0 otherwise.");
    out.label("device", alarm.device);
    out.label("channel", alarm.channel);
    for (const AlarmState level : {AlarmState::high, AlarmState::low}) {
        out.add_metric(active, alarm.state == level, {{"level", to_string(level)}});
    }
    out.add_metric(
        gauge("telegate_alarm_known",
              "1 if the alarm state of the channel is known, 0 if it is unknown or the channel has no value."),
        alarm.state != AlarmState::unknown && alarm.quality != Quality::bad);
    out.add_metric(
        gauge("telegate_alarm_acknowledged", "1 if the channel's alarm is active and acknowledged, 0 otherwise."),
        alarm.acknowledged.has_value());
}

void list_metrics(JsonObject& out, const MetricsSource& source) {
    list_status(out, source.snapshot);
    out.metrics_of_each(endpoint_figures(source.snapshot), list_endpoint);
    out.add_metric(
        gauge("telegate_ready",
              "1 if the gateway is ready as reported by /readyz, 0 otherwise; a failed device is only a warning."),
        source.health.ready());
    out.metrics_of_each(source.health.checks, [](JsonObject& each, const HealthCheck& check) {
        each.add_metric(gauge("telegate_check", "1 if this health check passes, 0 otherwise; see /readyz?verbose."),
                        check.good, {{"check", check.name}});
    });
    list_events(out, source.events);
    list_rest(out, source);
    list_history(out, source.history);
    list_values(out, source.snapshot.channels);
    list_own_tags(out, *source.snapshot.labels);
    list_process(out, source.process);
    out.metrics_of_each(source.alarms, list_alarm);
}

const MetricText& described_metrics() {
    static const MetricText described = [] {
        MetricText text;
        JsonSchemas schemas;
        const StatusSnapshot none;
        JsonObject::collect(
            text, [&](JsonObject& out) { list_metrics(out, {.snapshot = none}); }, &schemas);
        return text;
    }();
    return described;
}

}  // namespace

const std::vector<MetricFamily>& metrics_table() {
    return described_metrics().families();
}

std::string metrics_text(const MetricsSource& source, MetricFormat format) {
    MetricText text = described_metrics();
    JsonObject::collect(text, [&](JsonObject& out) { list_metrics(out, source); });
    return text.text(format);
}

}  // namespace telegate
