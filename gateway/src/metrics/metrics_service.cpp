#include "base/build_info.hpp"
#include "metrics/metrics_table.hpp"

#include <array>
#include <vector>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;

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

void add_values(Source source, Text text) {
    std::size_t shown = 0;
    for (const ChannelStatus& channel : source.snapshot.channels) {
        if (has_number(channel.last) && shown < metric_channels_max) {
            const std::string_view topic = channel.topic;
            const std::size_t slash = topic.find('/');
            text.add({{"device", topic.substr(0, slash)}, {"channel", topic.substr(slash + 1)}, {"unit", channel.unit}},
                     number_of(channel.last));
            ++shown;
        }
    }
}

void add_values_left_out(Source source, Text text) {
    std::uint64_t numbers = 0;
    for (const ChannelStatus& channel : source.snapshot.channels) {
        numbers += has_number(channel.last) ? 1U : 0U;
    }
    text.add({}, numbers - std::min<std::uint64_t>(numbers, metric_channels_max));
}

void add_requests(Source source, Text text) {
    for (const RequestCount& count : source.requests) {
        text.add({{"path", count.path}, {"code", std::to_string(count.status)}}, count.requests);
    }
}

void add_health(Source source, Text text) {
    for (const HealthCheck& check : source.health.checks) {
        text.add_flag({{"check", check.name}}, check.good);
    }
}

template <class Value>
void add_http(Source source, Text text, const Value& value) {
    if (source.http) {
        text.add({}, value(*source.http));
    }
}

template <class Value>
void add_history(Source source, Text text, const Value& value) {
    if (source.history != nullptr) {
        text.add({}, std::uint64_t{value(*source.history)});
    }
}

template <class Value>
void add_kept(Source source, Text text, const Value& value) {
    if (source.history != nullptr && source.history->kept() != nullptr) {
        text.add({}, std::uint64_t{value(*source.history->kept())});
    }
}

bool is_good(const ConfigStatus& config) {
    return !config.last_reload || !is_refusal(config.last_reload->outcome);
}

template <class Value>
void add_reload(Source source, Text text, const Value& value) {
    text.add({}, value(source.snapshot.config));
}

void add_tags(Source source, Text text) {
    std::vector<MetricLabel> labels;
    for (const Tag& tag : source.snapshot.tags) {
        labels.push_back({tag.name, tag.value});
    }
    if (!labels.empty()) {
        text.add_info(labels);
    }
}

// clang-format off
constexpr std::array service_rows{
    MetricRow{{"telegate_build", MetricType::info, "", "Version and build of the gateway."}, "version, type, compiler",
              [](Source, Text t) {
                  t.add({{"version", build_info::version}, {"type", build_info::type}, {"compiler", build_info::compiler}},
                        std::uint64_t{1});
              }},
    MetricRow{{"telegate_tags", MetricType::info, "",
               "Tags of the gateway as labels; absent without tags."}, "each tag",
              add_tags},
    MetricRow{{"telegate_start_time_seconds", MetricType::gauge, "seconds",
               "Start time of the gateway, in seconds since 1970; sequence numbers restart with it."}, "",
              [](Source s, Text t) { t.add({}, static_cast<double>(s.snapshot.epoch_ms) / 1e3); }},
    MetricRow{{"telegate_ready", MetricType::gauge, "",
               "1 if the gateway is ready as reported by /readyz, 0 otherwise; a failed device is only a warning."}, "",
              [](Source s, Text t) { t.add_flag({}, s.health.ready()); }},
    MetricRow{{"telegate_check", MetricType::gauge, "",
               "1 if this health check passes, 0 otherwise; see /readyz?verbose."}, "check",
              add_health},
    MetricRow{{"telegate_config_last_reload_successful", MetricType::gauge, "",
               "1 if the last reload of the settings succeeded or there was none, 0 if it failed."}, "",
              [](Source s, Text t) { add_reload(s, t, [](const ConfigStatus& c) { return std::uint64_t{is_good(c)}; }); }},
    MetricRow{{"telegate_config_last_reload_timestamp_seconds", MetricType::gauge, "seconds",
               "Time of the last reload, in seconds since 1970; 0 if there was none."}, "",
              [](Source s, Text t) { add_reload(s, t, [](const ConfigStatus& c) { return c.last_reload ? static_cast<double>(c.last_reload->time_utc_ns) / 1e9 : 0.0; }); }},
    MetricRow{{"telegate_config_generation", MetricType::gauge, "",
               "Generation of the settings in force; incremented by each change."}, "",
              [](Source s, Text t) { add_reload(s, t, [](const ConfigStatus& c) { return c.generation; }); }},
    MetricRow{{"telegate_rest_requests", MetricType::counter, "", "HTTP requests by path and status code."},
              "path, code", add_requests},
    MetricRow{{"telegate_rest_streams", MetricType::gauge, "", "Open event streams."}, "",
              [](Source s, Text t) {
                  if (s.streams) { t.add({}, std::uint64_t{*s.streams}); }
              }},
    MetricRow{{"telegate_rest_response_bytes", MetricType::gauge, "bytes",
               "Bytes of response bodies over 16 KiB that are being sent, at most 64 MiB; shared bodies count once."},
              "",
              [](Source s, Text t) { add_http(s, t, [](const HttpFigures& f) { return std::uint64_t{f.response_bytes}; }); }},
    MetricRow{{"telegate_rest_responses_refused", MetricType::counter, "",
               "Responses refused with 503 because clients had not read earlier ones; see "
               "telegate_rest_response_bytes."}, "",
              [](Source s, Text t) { add_http(s, t, [](const HttpFigures& f) { return f.responses_refused; }); }},
    MetricRow{{"telegate_rest_requests_refused", MetricType::counter, "",
               "Requests refused with 503 because all workers were busy for too long."}, "",
              [](Source s, Text t) { add_http(s, t, [](const HttpFigures& f) { return f.requests_refused; }); }},
    MetricRow{{"telegate_history_written", MetricType::counter, "", "Samples written to the history."}, "",
              [](Source s, Text t) { add_history(s, t, [](const History& h) { return h.position(); }); }},
    MetricRow{{"telegate_history_samples", MetricType::gauge, "", "Samples in the history."}, "",
              [](Source s, Text t) { add_history(s, t, [](const History& h) { return h.position() - h.oldest(); }); }},
    MetricRow{{"telegate_history_capacity", MetricType::gauge, "", "Maximum number of samples in the history."}, "",
              [](Source s, Text t) { add_history(s, t, [](const History& h) { return h.capacity(); }); }},
    MetricRow{{"telegate_history_quiet_samples", MetricType::gauge, "",
               "Samples of quiet channels that the history retains in addition, although newer samples have "
               "followed."}, "",
              [](Source s, Text t) { add_kept(s, t, [](const KeptSamples& k) { return k.held(); }); }},
    MetricRow{{"telegate_history_quiet_capacity", MetricType::gauge, "",
               "Maximum number of additional samples of quiet channels in the history."}, "",
              [](Source s, Text t) { add_kept(s, t, [](const KeptSamples& k) { return k.capacity(); }); }},
    MetricRow{{"telegate_history_per_channel", MetricType::gauge, "",
               "Minimum number of samples that the history currently retains per channel; less than "
               "history_per_channel if there are too many quiet channels for history_bytes."}, "",
              [](Source s, Text t) { add_kept(s, t, [](const KeptSamples& k) { return k.share(); }); }},
    MetricRow{{"telegate_history_per_channel_configured", MetricType::gauge, "",
               "Value of the setting history_per_channel."}, "",
              [](Source s, Text t) { add_kept(s, t, [](const KeptSamples& k) { return k.per_channel(); }); }},
    MetricRow{{"telegate_channels_refused", MetricType::counter, "", "Channels refused because there were too many."},
              "", [](Source s, Text t) { t.add({}, s.snapshot.channels_refused); }},
    MetricRow{{"telegate_channel_value", MetricType::gauge, "",
               "Last value of a channel if it is a number or a boolean (0 or 1)."},
              "device, channel, unit", add_values},
    MetricRow{{"telegate_channel_values_omitted", MetricType::gauge, "",
               "Channels that telegate_channel_value omits because it has at most 1000 series."}, "", add_values_left_out},
    MetricRow{{"process_cpu_seconds", MetricType::counter, "seconds", "Total user and system CPU time."}, "",
              [](Source s, Text t) { t.add({}, s.process.cpu_seconds); }},
    MetricRow{{"process_start_time_seconds", MetricType::gauge, "seconds",
               "Start time of the process, in seconds since 1970."}, "",
              [](Source s, Text t) { t.add({}, s.process.start_time_seconds); }},
    MetricRow{{"process_resident_memory_bytes", MetricType::gauge, "bytes", "Resident memory size."}, "",
              [](Source s, Text t) { t.add({}, s.process.resident_bytes); }},
    MetricRow{{"process_virtual_memory_bytes", MetricType::gauge, "bytes", "Virtual memory size."}, "",
              [](Source s, Text t) { t.add({}, s.process.virtual_bytes); }},
    MetricRow{{"process_threads", MetricType::gauge, "", "Threads."}, "",
              [](Source s, Text t) { t.add({}, s.process.threads); }},
    MetricRow{{"process_open_fds", MetricType::gauge, "", "Open file descriptors."}, "",
              [](Source s, Text t) { t.add({}, s.process.open_descriptors); }},
    MetricRow{{"process_max_fds", MetricType::gauge, "", "Maximum number of open file descriptors."}, "",
              [](Source s, Text t) { t.add({}, s.process.descriptors_max); }},
};
// clang-format on

}  // namespace

std::span<const MetricRow> service_metrics() noexcept {
    return service_rows;
}

}  // namespace telegate
