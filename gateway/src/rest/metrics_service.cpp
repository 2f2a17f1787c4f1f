#include "base/build_info.hpp"
#include "rest/metrics_table.hpp"

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
    if (source.handlers.traffic != nullptr) {
        for (const RestTraffic::Count& count : source.handlers.traffic->counts()) {
            text.add({{"path", count.path}, {"code", std::to_string(count.status)}}, count.requests);
        }
    }
}

void add_health(Source source, Text text) {
    for (const HealthCheck& check : source.health.checks) {
        text.add_flag({{"check", check.name}}, check.good);
    }
}

template <class Value>
void add_http(Source source, Text text, const Value& value) {
    if (source.handlers.http) {
        text.add({}, value(source.handlers.http()));
    }
}

template <class Value>
void add_history(Source source, Text text, const Value& value) {
    if (source.handlers.history != nullptr) {
        text.add({}, std::uint64_t{value(*source.handlers.history)});
    }
}

template <class Value>
void add_kept(Source source, Text text, const Value& value) {
    if (source.handlers.history != nullptr && source.handlers.history->kept() != nullptr) {
        text.add({}, std::uint64_t{value(*source.handlers.history->kept())});
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
    MetricRow{{"telegate_build", MetricType::info, "", "What is running."}, "version, type, compiler",
              [](Source, Text t) {
                  t.add({{"version", build_info::version}, {"type", build_info::type}, {"compiler", build_info::compiler}},
                        std::uint64_t{1});
              }},
    MetricRow{{"telegate_tags", MetricType::info, "", "The tags of the gateway as labels, when it has any."}, "each tag",
              add_tags},
    MetricRow{{"telegate_start_time_seconds", MetricType::gauge, "seconds",
               "When the gateway started, in seconds since 1970; sequence numbers restart with it."}, "",
              [](Source s, Text t) { t.add({}, static_cast<double>(s.snapshot.epoch_ms) / 1e3); }},
    MetricRow{{"telegate_ready", MetricType::gauge, "", "1 when the gateway can serve, 0 when not, as /readyz says; a failed device is a warning."}, "",
              [](Source s, Text t) { t.add_flag({}, s.health.ready()); }},
    MetricRow{{"telegate_check", MetricType::gauge, "", "1 when this part works, 0 when not, see /readyz?verbose."}, "check",
              add_health},
    MetricRow{{"telegate_config_last_reload_successful", MetricType::gauge, "",
               "1 when the last reload of the settings was taken or there was none, 0 when it failed."}, "",
              [](Source s, Text t) { add_reload(s, t, [](const ConfigStatus& c) { return std::uint64_t{is_good(c)}; }); }},
    MetricRow{{"telegate_config_last_reload_timestamp_seconds", MetricType::gauge, "seconds",
               "When that was, in seconds since 1970; 0 when there was none."}, "",
              [](Source s, Text t) { add_reload(s, t, [](const ConfigStatus& c) { return c.last_reload ? static_cast<double>(c.last_reload->time_utc_ns) / 1e9 : 0.0; }); }},
    MetricRow{{"telegate_config_generation", MetricType::gauge, "", "Counts the settings that have been in force."}, "",
              [](Source s, Text t) { add_reload(s, t, [](const ConfigStatus& c) { return c.generation; }); }},
    MetricRow{{"telegate_rest_requests", MetricType::counter, "", "Requests answered, by path of the interface and status."},
              "path, code", add_requests},
    MetricRow{{"telegate_rest_streams", MetricType::gauge, "", "Event streams that are open."}, "",
              [](Source s, Text t) {
                  if (s.handlers.streams != nullptr) { t.add({}, std::uint64_t{s.handlers.streams->count()}); }
              }},
    MetricRow{{"telegate_rest_response_bytes", MetricType::gauge, "bytes",
               "Bodies of responses over 16 KiB that are being sent, up to 64 MiB; shared ones count once."}, "",
              [](Source s, Text t) { add_http(s, t, [](const HttpFigures& f) { return std::uint64_t{f.response_bytes}; }); }},
    MetricRow{{"telegate_rest_responses_refused", MetricType::counter, "",
               "Responses refused with 503 because clients had not read others, see telegate_rest_response_bytes."}, "",
              [](Source s, Text t) { add_http(s, t, [](const HttpFigures& f) { return f.responses_refused; }); }},
    MetricRow{{"telegate_rest_requests_refused", MetricType::counter, "",
               "Requests refused with 503 because all that came before them were still waiting for the gateway."}, "",
              [](Source s, Text t) { add_http(s, t, [](const HttpFigures& f) { return f.requests_refused; }); }},
    MetricRow{{"telegate_history_written", MetricType::counter, "", "Samples written to the history."}, "",
              [](Source s, Text t) { add_history(s, t, [](const History& h) { return h.position(); }); }},
    MetricRow{{"telegate_history_held", MetricType::gauge, "", "Samples that it holds now."}, "",
              [](Source s, Text t) { add_history(s, t, [](const History& h) { return h.position() - h.oldest(); }); }},
    MetricRow{{"telegate_history_capacity", MetricType::gauge, "", "Samples that it holds at most."}, "",
              [](Source s, Text t) { add_history(s, t, [](const History& h) { return h.capacity(); }); }},
    MetricRow{{"telegate_history_kept", MetricType::gauge, "",
               "Samples of quiet channels that it holds besides, though others came after them."}, "",
              [](Source s, Text t) { add_kept(s, t, [](const KeptSamples& k) { return k.held(); }); }},
    MetricRow{{"telegate_history_kept_capacity", MetricType::gauge, "", "How many of them it holds at most."}, "",
              [](Source s, Text t) { add_kept(s, t, [](const KeptSamples& k) { return k.capacity(); }); }},
    MetricRow{{"telegate_history_per_channel", MetricType::gauge, "",
               "Samples that each channel keeps at least at present; less than history_per_channel when there are too many quiet channels for history_bytes."}, "",
              [](Source s, Text t) { add_kept(s, t, [](const KeptSamples& k) { return k.share(); }); }},
    MetricRow{{"telegate_history_per_channel_wanted", MetricType::gauge, "", "What history_per_channel asks for."}, "",
              [](Source s, Text t) { add_kept(s, t, [](const KeptSamples& k) { return k.per_channel(); }); }},
    MetricRow{{"telegate_channels_refused", MetricType::counter, "", "Channels that could not be had because there were too many."},
              "", [](Source s, Text t) { t.add({}, s.snapshot.channels_refused); }},
    MetricRow{{"telegate_channel_value", MetricType::gauge, "", "The last value of a channel, if that is a number, or 0 or 1."},
              "device, channel, unit", add_values},
    MetricRow{{"telegate_channel_values_left_out", MetricType::gauge, "",
               "Channels with such a value beyond the first 1000, which are not shown."}, "", add_values_left_out},
    MetricRow{{"process_cpu_seconds", MetricType::counter, "seconds", "Time on processors, in the kernel too."}, "",
              [](Source s, Text t) { t.add({}, s.process.cpu_seconds); }},
    MetricRow{{"process_start_time_seconds", MetricType::gauge, "seconds", "When the process started, in seconds since 1970."}, "",
              [](Source s, Text t) { t.add({}, s.process.start_time_seconds); }},
    MetricRow{{"process_resident_memory_bytes", MetricType::gauge, "bytes", "Memory in use."}, "",
              [](Source s, Text t) { t.add({}, s.process.resident_bytes); }},
    MetricRow{{"process_virtual_memory_bytes", MetricType::gauge, "bytes", "Address space in use."}, "",
              [](Source s, Text t) { t.add({}, s.process.virtual_bytes); }},
    MetricRow{{"process_threads", MetricType::gauge, "", "Threads."}, "",
              [](Source s, Text t) { t.add({}, s.process.threads); }},
    MetricRow{{"process_open_fds", MetricType::gauge, "", "Descriptors in use."}, "",
              [](Source s, Text t) { t.add({}, s.process.open_descriptors); }},
    MetricRow{{"process_max_fds", MetricType::gauge, "", "Descriptors that may be in use at most."}, "",
              [](Source s, Text t) { t.add({}, s.process.descriptors_max); }},
};
// clang-format on

}  // namespace

std::span<const MetricRow> service_metrics() noexcept {
    return service_rows;
}

}  // namespace telegate
