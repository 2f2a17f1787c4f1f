#include "encode/time_text.hpp"
#include "metrics/metrics_table.hpp"

#include <algorithm>
#include <array>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;

/// Adds a count of each device's ledger.
template <class Value>
void add_counts(Source source, Text text, const Value& value) {
    const auto& devices = source.snapshot.devices;
    for (std::size_t i = 0; i < std::min(devices.size(), source.snapshot.ledger.size()); ++i) {
        text.add({{"device", devices[i].name}}, value(source.snapshot.ledger[i]));
    }
}

template <class Value>
void add_devices(Source source, Text text, const Value& value) {
    for (const DeviceStatus& device : source.snapshot.devices) {
        text.add({{"device", device.name}}, value(device));
    }
}

void add_dropped(Source source, Text text) {
    const auto& devices = source.snapshot.devices;
    for (std::size_t i = 0; i < std::min(devices.size(), source.snapshot.ledger.size()); ++i) {
        for (std::size_t reason = 0; reason < drop_reasons; ++reason) {
            text.add({{"device", devices[i].name}, {"reason", to_string(static_cast<DropReason>(reason))}},
                     source.snapshot.ledger[i].dropped[reason]);
        }
    }
}

void add_filtered(Source source, Text text) {
    for (const DeviceStatus& device : source.snapshot.devices) {
        for (std::size_t reason = 0; reason < filter_reasons; ++reason) {
            text.add({{"device", device.name}, {"reason", to_string(static_cast<FilterReason>(reason))}},
                     device.filtered_by[reason]);
        }
    }
}

void add_notices(Source source, Text text) {
    for (std::size_t i = 0; i < source.snapshot.notices.size(); ++i) {
        const std::string_view format = to_string(static_cast<PayloadFormat>(i));
        text.add({{"format", format}, {"kind", "gap"}}, source.snapshot.notices[i].gaps);
        text.add({{"format", format}, {"kind", "beat"}}, source.snapshot.notices[i].heartbeats);
    }
}

void add_balanced(Source source, Text text) {
    const auto& counts = source.snapshot.ledger;
    text.add_flag(
        {}, source.snapshot.queue_agrees && source.snapshot.channels_agree &&
                std::all_of(counts.begin(), counts.end(), [](const LedgerCounts& entry) { return entry.balanced(); }));
}

void add_states(Source source, Text text) {
    for (const DeviceStatus& device : source.snapshot.devices) {
        for (const DeviceState state :
             {DeviceState::idle, DeviceState::measuring, DeviceState::error, DeviceState::safe}) {
            text.add_flag({{"device", device.name}, {"state", to_string(state)}}, device.state == state);
        }
    }
}

void add_breakers(Source source, Text text) {
    for (const DeviceStatus& device : source.snapshot.devices) {
        for (const BreakerState state : {BreakerState::closed, BreakerState::open, BreakerState::half_open}) {
            if (device.breaker) {
                text.add_flag({{"device", device.name}, {"state", to_string(state)}}, *device.breaker == state);
            }
        }
    }
}

double seconds_of(std::int64_t utc_ns) {
    return static_cast<double>(utc_ns) / 1e9;
}

void add_last_good(Source source, Text text) {
    for (const DeviceStatus& device : source.snapshot.devices) {
        if (device.last_good_utc_ns != 0) {
            text.add({{"device", device.name}}, seconds_of(device.last_good_utc_ns));
        }
    }
}

void add_stopped(Source source, Text text) {
    for (const DeviceStatus& device : source.snapshot.devices) {
        text.add_flag({{"device", device.name}}, device.is_stopped());
    }
}

void add_channels_bad(Source source, Text text) {
    const auto& bad = source.snapshot.channels_bad;
    for (std::size_t i = 0; i < std::min(bad.size(), source.snapshot.devices.size()); ++i) {
        text.add({{"device", source.snapshot.devices[i].name}}, bad[i]);
    }
}

void add_events(Source source, Text text) {
    if (source.events != nullptr) {
        const EventCounts counts = source.events->counts();
        text.add({{"outcome", "added"}}, counts.added);
        text.add({{"outcome", "suppressed"}}, counts.suppressed);
        text.add({{"outcome", "overwritten"}}, counts.overwritten);
        text.add({{"outcome", "lost"}}, counts.lost);
    }
}

/// Adds every device, including those without unclaimed sections, so that alerts can compare.
void add_unclaimed(Source source, Text text) {
    for (const DeviceStatus& device : source.snapshot.devices) {
        const auto& topics = source.snapshot.sections_unclaimed;
        text.add({{"device", device.name}},
                 static_cast<std::uint64_t>(std::count_if(topics.begin(), topics.end(), [&](const std::string& topic) {
                     return topic.starts_with(device.name + '/');
                 })));
    }
}

void add_lateness(Source source, Text text) {
    for (const DeviceStatus& device : source.snapshot.devices) {
        text.add({{"device", device.name}, {"quantile", "0.5"}}, to_seconds(device.lateness_p50));
        text.add({{"device", device.name}, {"quantile", "0.99"}}, to_seconds(device.lateness_p99));
        text.add({{"device", device.name}, {"quantile", "1"}}, to_seconds(device.lateness_max));
    }
}

// clang-format off
constexpr std::array line_rows{
    MetricRow{{"telegate_samples_sampled", MetricType::counter, "", "Samples read from the device."}, "device",
              [](Source s, Text t) { add_counts(s, t, [](const LedgerCounts& b) { return b.sampled; }); }},
    MetricRow{{"telegate_samples_published", MetricType::counter, "",
               "Samples handed to the publishers, including samples without subscribers."}, "device",
              [](Source s, Text t) { add_counts(s, t, [](const LedgerCounts& b) { return b.published; }); }},
    MetricRow{{"telegate_samples_filtered", MetricType::counter, "",
               "Samples filtered out intentionally, for example by a deadband."}, "device",
              [](Source s, Text t) { add_counts(s, t, [](const LedgerCounts& b) { return b.filtered; }); }},
    MetricRow{{"telegate_samples_dropped", MetricType::counter, "",
               "Samples lost between the device and the publishers."},
              "device, reason", add_dropped},
    MetricRow{{"telegate_samples_queued", MetricType::gauge, "",
               "Samples queued between the device and the publishers."},
              "device", [](Source s, Text t) { add_counts(s, t, [](const LedgerCounts& b) { return b.queued; }); }},
    MetricRow{{"telegate_ledger_balanced", MetricType::gauge, "",
               "1 if sampled = published + filtered + dropped + queued for every device and the ledgers of its "
               "channels agree, 0 otherwise."}, "", add_balanced},
    MetricRow{{"telegate_notices_published", MetricType::counter, "",
               "Gap and heartbeat notices handed to the publishers."}, "format, kind",
              add_notices},
    MetricRow{{"telegate_queue_depth", MetricType::gauge, "", "Samples in the queue."}, "",
              [](Source s, Text t) { t.add({}, std::uint64_t{s.snapshot.queue_depth}); }},
    MetricRow{{"telegate_queue_capacity", MetricType::gauge, "", "Maximum number of samples in the queue."}, "",
              [](Source s, Text t) { t.add({}, std::uint64_t{s.snapshot.queue_capacity}); }},
    MetricRow{{"telegate_queue_high_water", MetricType::gauge, "",
               "Highest number of samples in the queue so far; with several sampling threads, the sum of their "
               "maxima."}, "",
              [](Source s, Text t) { t.add({}, std::uint64_t{s.snapshot.queue_high_water}); }},
    MetricRow{{"telegate_device_state", MetricType::gauge, "",
               "1 for the current state of the device, 0 for the others."},
              "device, state", add_states},
    MetricRow{{"telegate_device_interval_seconds", MetricType::gauge, "seconds",
               "Interval between two readings."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return to_seconds(d.interval); }); }},
    MetricRow{{"telegate_device_channels", MetricType::gauge, "", "Number of channels of the device."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return std::uint64_t{d.channels}; }); }},
    MetricRow{{"telegate_device_channel_sections_unclaimed", MetricType::gauge, "",
               "Channel sections in the settings that match no channel of the device after it has been measuring "
               "for a minute."},
              "device", add_unclaimed},
    MetricRow{{"telegate_device_reads", MetricType::counter, "",
               "Completed readings, including failed ones."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.reads; }); }},
    MetricRow{{"telegate_device_reads_failed", MetricType::counter, "", "Failed readings."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.reads_failed; }); }},
    MetricRow{{"telegate_device_ticks_missed", MetricType::counter, "",
               "Readings skipped because the previous one took too long."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.ticks_missed; }); }},
    MetricRow{{"telegate_device_reads_skipped", MetricType::counter, "",
               "Readings skipped because the device had too many consecutive failures."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.reads_skipped; }); }},
    MetricRow{{"telegate_device_consecutive_failures", MetricType::gauge, "",
               "Failed readings since the last good one."},
              "device", [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.consecutive_failures; }); }},
    MetricRow{{"telegate_device_outages", MetricType::counter, "",
               "Number of times the device has started to fail."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.outages; }); }},
    MetricRow{{"telegate_device_last_good_timestamp_seconds", MetricType::gauge, "seconds",
               "Time of the last good reading, in seconds since 1970; absent before the first."},
              "device", add_last_good},
    MetricRow{{"telegate_device_state_since_timestamp_seconds", MetricType::gauge, "seconds",
               "Time at which the device entered its current state, in seconds since 1970."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return seconds_of(d.state_since_utc_ns); }); }},
    MetricRow{{"telegate_device_stopped", MetricType::gauge, "",
               "1 if a device that the settings start automatically has been stopped, 0 otherwise."},
              "device", add_stopped},
    MetricRow{{"telegate_device_samples_bad", MetricType::counter, "", "Samples with quality bad."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.samples_bad; }); }},
    MetricRow{{"telegate_device_channels_bad", MetricType::gauge, "",
               "Channels that have been bad for at least a minute while the device was measuring."},
              "device", add_channels_bad},
    MetricRow{{"telegate_events", MetricType::counter, "",
               "Events of devices and alarms by outcome: added to GET /events, suppressed, overwritten there, or "
               "lost for lack of memory."},
              "outcome", add_events},
    MetricRow{{"telegate_device_breaker_state", MetricType::gauge, "",
               "1 for the current state of the breaker, 0 for the others; only for devices with their own thread."},
              "device, state", add_breakers},
    MetricRow{{"telegate_device_lost_at_source", MetricType::counter, "",
               "Readings lost by the device or the kernel before the gateway received them."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.lost_at_source; }); }},
    MetricRow{{"telegate_device_refused", MetricType::counter, "",
               "Lines, frames and datagrams of the device that were refused; see last_refused for the reason."},
              "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.refused; }); }},
    MetricRow{{"telegate_device_filtered", MetricType::counter, "",
               "Samples filtered out intentionally, by the stage that filtered them."},
              "device, reason", add_filtered},
    MetricRow{{"telegate_device_lateness_seconds", MetricType::summary, "seconds",
               "Delay of readings behind their schedule since the start: median, 99th percentile, maximum."},
              "device, quantile", add_lateness},
};
// clang-format on

}  // namespace

std::span<const MetricRow> line_metrics() noexcept {
    return line_rows;
}

}  // namespace telegate
