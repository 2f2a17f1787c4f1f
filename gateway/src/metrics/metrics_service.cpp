#include "base/build_info.hpp"
#include "metrics/metrics_table.hpp"

#include <algorithm>
#include <array>
#include <optional>
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
        text.add({{"check", check.name}}, check.good);
    }
}

bool is_good(const ConfigStatus& config) {
    return !config.last_reload || !is_refusal(config.last_reload->outcome);
}

/// Returns the function of a metric of quiet channels, which has no sample if the history does not retain them.
template <class Get>
constexpr MetricRow::Add of_kept(Get /*get*/) {
    return [](Source source, Text text) {
        if (const KeptSamples* const kept = source.history.kept()) {
            text.add({}, Get{}(*kept));
        }
    };
}

/// Returns the function of a metric of the clock, which has no sample if the kernel reports nothing.
template <class Get>
constexpr MetricRow::Add of_clock(Get /*get*/) {
    return [](Source source, Text text) {
        const ClockReading& reading = source.snapshot.clock.reading;
        if (reading.sync != ClockSync::unknown) {
            text.add({}, Get{}(reading));
        }
    };
}

void add_build(Source /*source*/, Text text) {
    const std::array<MetricLabel, 3> labels{
        {{"version", build_info::version}, {"type", build_info::type}, {"compiler", build_info::compiler}}};
    text.add_info(labels);
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

constexpr std::array service_rows{
    MetricRow{{"telegate_build", MetricType::info, "Version and build of the gateway."},
              "version, type, compiler",
              add_build},
    MetricRow{{"telegate_tags", MetricType::info, "Tags of the gateway as labels; absent without tags."},
              "each tag",
              add_tags},
    gauge("telegate_start_time_seconds", "",
          "Start time of the gateway, in seconds since 1970; sequence numbers restart with it.",
          one([](Source s) { return static_cast<double>(s.snapshot.epoch_ms) / 1e3; })),
    gauge("telegate_ready", "",
          "1 if the gateway is ready as reported by /readyz, 0 otherwise; a failed device is only a warning.",
          one([](Source s) { return s.health.ready(); })),
    gauge("telegate_check", "check", "1 if this health check passes, 0 otherwise; see /readyz?verbose.", add_health),
    gauge("telegate_config_last_reload_successful", "",
          "1 if the last reload of the settings succeeded or there was none, 0 if it failed.",
          one([](Source s) { return is_good(s.snapshot.config); })),
    gauge("telegate_config_last_reload_timestamp_seconds", "",
          "Time of the last reload, in seconds since 1970; 0 if there was none.", one([](Source s) {
              return s.snapshot.config.last_reload
                         ? static_cast<double>(s.snapshot.config.last_reload->time_utc_ns) / 1e9
                         : 0.0;
          })),
    gauge("telegate_config_generation", "", "Generation of the settings in force; incremented by each change.",
          one([](Source s) { return s.snapshot.config.generation; })),
    counter("telegate_rest_requests", "path, code", "HTTP requests by path and status code.", add_requests),
    gauge("telegate_rest_streams", "", "Open event streams.", one([](Source s) { return s.streams; })),
    gauge("telegate_rest_response_bytes", "",
          "Bytes of response bodies over 16 KiB that are being sent, at most 64 MiB; shared bodies count once.",
          one([](Source s) { return s.http.response_bytes; })),
    counter("telegate_rest_responses_refused", "",
            "Responses refused with 503 because clients had not read earlier ones; see telegate_rest_response_bytes.",
            one([](Source s) { return s.http.responses_refused; })),
    counter("telegate_rest_requests_refused", "",
            "Requests refused with 503 because all workers were busy for too long.",
            one([](Source s) { return s.http.requests_refused; })),
    counter("telegate_history_written", "", "Samples written to the history.",
            one([](Source s) { return s.history.position(); })),
    gauge("telegate_history_samples", "", "Samples in the history.",
          one([](Source s) { return s.history.position() - s.history.oldest(); })),
    gauge("telegate_history_capacity", "", "Maximum number of samples in the history.",
          one([](Source s) { return s.history.capacity(); })),
    gauge("telegate_history_quiet_samples", "",
          "Samples of quiet channels that the history retains in addition, although newer samples have followed.",
          of_kept([](const KeptSamples& k) { return k.held(); })),
    gauge("telegate_history_quiet_capacity", "",
          "Maximum number of additional samples of quiet channels in the history.",
          of_kept([](const KeptSamples& k) { return k.capacity(); })),
    gauge("telegate_history_per_channel", "",
          "Minimum number of samples that the history currently retains per channel; less than history_per_channel if "
          "there are too many quiet channels for history_bytes.",
          of_kept([](const KeptSamples& k) { return k.share(); })),
    gauge("telegate_history_per_channel_configured", "", "Value of the setting history_per_channel.",
          of_kept([](const KeptSamples& k) { return k.per_channel(); })),
    counter("telegate_channels_refused", "", "Channels refused because there were too many.",
            one([](Source s) { return s.snapshot.channels_refused; })),
    gauge("telegate_channel_value", "device, channel, unit",
          "Last value of a channel if it is a number or a boolean (0 or 1).", add_values),
    gauge("telegate_channel_values_omitted", "",
          "Channels that telegate_channel_value omits because it has at most 1000 series.", add_values_left_out),
    counter("process_cpu_seconds", "", "Total user and system CPU time.",
            one([](Source s) { return s.process.cpu_seconds; })),
    gauge("process_start_time_seconds", "", "Start time of the process, in seconds since 1970.",
          one([](Source s) { return s.process.start_time_seconds; })),
    gauge("process_resident_memory_bytes", "", "Resident memory size.",
          one([](Source s) { return s.process.resident_bytes; })),
    gauge("process_virtual_memory_bytes", "", "Virtual memory size.",
          one([](Source s) { return s.process.virtual_bytes; })),
    gauge("process_threads", "", "Threads.", one([](Source s) { return s.process.threads; })),
    gauge("process_open_fds", "", "Open file descriptors.", one([](Source s) { return s.process.open_descriptors; })),
    gauge("process_max_fds", "", "Maximum number of open file descriptors.",
          one([](Source s) { return s.process.descriptors_max; })),
    gauge("telegate_clock_synchronized", "",
          "1 if the kernel reports that the wall clock is synchronized, 0 if not; absent if it reports nothing.",
          of_clock([](const ClockReading& c) { return c.sync == ClockSync::synchronized; })),
    gauge("telegate_clock_estimated_error_seconds", "",
          "Estimated error of the wall clock, as reported by the kernel; absent if it reports nothing.",
          of_clock([](const ClockReading& c) { return c.error_estimated_s; })),
    counter("telegate_clock_steps", "", "Number of steps of the wall clock.",
            one([](Source s) { return s.snapshot.clock.steps; })),
    gauge("telegate_clock_last_step_seconds", "",
          "Size of the last step of the wall clock, positive if forward; 0 if there was none.",
          one([](Source s) { return s.snapshot.clock.last_step ? s.snapshot.clock.last_step->seconds : 0.0; })),
};

}  // namespace

constinit const std::span<const MetricRow> service_metrics = service_rows;

}  // namespace telegate
