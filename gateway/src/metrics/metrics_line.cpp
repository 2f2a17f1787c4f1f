#include "encode/time_text.hpp"
#include "metrics/metrics_table.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;

/// Returns the function of a metric of each device's ledger.
template <class Get>
constexpr MetricRow::Add each_ledger(Get /*get*/) {
    return [](Source source, Text text) {
        const auto& devices = source.snapshot.devices;
        for (std::size_t i = 0; i < std::min(devices.size(), source.snapshot.ledger.size()); ++i) {
            text.add({{"device", devices[i].name}}, Get{}(source.snapshot.ledger[i]));
        }
    };
}

template <class Get>
constexpr MetricRow::Add each_device(Get /*get*/) {
    return [](Source source, Text text) {
        for (const DeviceStatus& device : source.snapshot.devices) {
            text.add({{"device", device.name}}, Get{}(device));
        }
    };
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

bool is_balanced(Source source) {
    const auto& counts = source.snapshot.ledger;
    return source.snapshot.queue_agrees && source.snapshot.channels_agree &&
           std::all_of(counts.begin(), counts.end(), [](const LedgerCounts& entry) { return entry.balanced(); });
}

void add_states(Source source, Text text) {
    for (const DeviceStatus& device : source.snapshot.devices) {
        for (const DeviceState state :
             {DeviceState::idle, DeviceState::measuring, DeviceState::error, DeviceState::safe}) {
            text.add({{"device", device.name}, {"state", to_string(state)}}, device.state == state);
        }
    }
}

void add_breakers(Source source, Text text) {
    for (const DeviceStatus& device : source.snapshot.devices) {
        for (const BreakerState state : {BreakerState::closed, BreakerState::open, BreakerState::half_open}) {
            if (device.breaker) {
                text.add({{"device", device.name}, {"state", to_string(state)}}, *device.breaker == state);
            }
        }
    }
}

double seconds_of(std::int64_t utc_ns) {
    return static_cast<double>(utc_ns) / 1e9;
}

std::optional<double> last_good_seconds(const DeviceStatus& device) {
    return device.last_good_utc_ns != 0 ? std::optional(seconds_of(device.last_good_utc_ns)) : std::nullopt;
}

void add_channels_bad(Source source, Text text) {
    const auto& bad = source.snapshot.channels_bad;
    for (std::size_t i = 0; i < std::min(bad.size(), source.snapshot.devices.size()); ++i) {
        text.add({{"device", source.snapshot.devices[i].name}}, bad[i]);
    }
}

void add_events(Source source, Text text) {
    const EventCounts counts = source.events.counts();
    text.add({{"outcome", "added"}}, counts.added);
    text.add({{"outcome", "suppressed"}}, counts.suppressed);
    text.add({{"outcome", "overwritten"}}, counts.overwritten);
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

constexpr std::array line_rows{
    counter("telegate_samples_sampled", "device", "Samples read from the device.",
            each_ledger([](const LedgerCounts& b) { return b.sampled; })),
    counter("telegate_samples_published", "device",
            "Samples handed to the publishers, including samples without subscribers.",
            each_ledger([](const LedgerCounts& b) { return b.published; })),
    counter("telegate_samples_filtered", "device", "Samples filtered out intentionally, for example by a deadband.",
            each_ledger([](const LedgerCounts& b) { return b.filtered; })),
    counter("telegate_samples_dropped", "device, reason", "Samples lost between the device and the publishers.",
            add_dropped),
    gauge("telegate_samples_queued", "device", "Samples queued between the device and the publishers.",
          each_ledger([](const LedgerCounts& b) { return b.queued; })),
    gauge("telegate_ledger_balanced", "",
          "1 if sampled = published + filtered + dropped + queued for every device and the ledgers of its channels "
          "agree, 0 otherwise.",
          one([](Source s) { return is_balanced(s); })),
    counter("telegate_notices_published", "format, kind", "Gap and heartbeat notices handed to the publishers.",
            add_notices),
    gauge("telegate_queue_depth", "", "Samples in the queue.", one([](Source s) { return s.snapshot.queue_depth; })),
    gauge("telegate_queue_capacity", "", "Maximum number of samples in the queue.",
          one([](Source s) { return s.snapshot.queue_capacity; })),
    gauge("telegate_queue_high_water", "",
          "Highest number of samples in the queue so far; with several sampling threads, the sum of their maxima.",
          one([](Source s) { return s.snapshot.queue_high_water; })),
    gauge("telegate_device_state", "device, state", "1 for the current state of the device, 0 for the others.",
          add_states),
    gauge("telegate_device_interval_seconds", "device", "Interval between two readings.",
          each_device([](const DeviceStatus& d) { return to_seconds(d.interval); })),
    gauge("telegate_device_channels", "device", "Number of channels of the device.",
          each_device([](const DeviceStatus& d) { return d.channels; })),
    gauge("telegate_device_channel_sections_unclaimed", "device",
          "Channel sections in the settings that match no channel of the device after it has been measuring for a "
          "minute.",
          add_unclaimed),
    counter("telegate_device_reads", "device", "Completed readings, including failed ones.",
            each_device([](const DeviceStatus& d) { return d.reads; })),
    counter("telegate_device_reads_failed", "device", "Failed readings.",
            each_device([](const DeviceStatus& d) { return d.reads_failed; })),
    counter("telegate_device_ticks_missed", "device", "Readings skipped because the previous one took too long.",
            each_device([](const DeviceStatus& d) { return d.ticks_missed; })),
    counter("telegate_device_reads_skipped", "device",
            "Readings skipped because the device had too many consecutive failures.",
            each_device([](const DeviceStatus& d) { return d.reads_skipped; })),
    gauge("telegate_device_consecutive_failures", "device", "Failed readings since the last good one.",
          each_device([](const DeviceStatus& d) { return d.consecutive_failures; })),
    counter("telegate_device_outages", "device", "Number of times the device has started to fail.",
            each_device([](const DeviceStatus& d) { return d.outages; })),
    gauge("telegate_device_last_good_timestamp_seconds", "device",
          "Time of the last good reading, in seconds since 1970; absent before the first.",
          each_device([](const DeviceStatus& d) { return last_good_seconds(d); })),
    gauge("telegate_device_state_since_timestamp_seconds", "device",
          "Time at which the device entered its current state, in seconds since 1970.",
          each_device([](const DeviceStatus& d) { return seconds_of(d.state_since_utc_ns); })),
    gauge("telegate_device_stopped", "device",
          "1 if a device that the settings start automatically has been stopped, 0 otherwise.",
          each_device([](const DeviceStatus& d) { return d.is_stopped(); })),
    counter("telegate_device_samples_bad", "device", "Samples with quality bad.",
            each_device([](const DeviceStatus& d) { return d.samples_bad; })),
    gauge("telegate_device_channels_bad", "device",
          "Channels that have been bad for at least a minute while the device was measuring.", add_channels_bad),
    counter("telegate_events", "outcome",
            "Events of devices and alarms by outcome: added to GET /events, suppressed, or overwritten "
            "there.",
            add_events),
    gauge("telegate_device_breaker_state", "device, state",
          "1 for the current state of the breaker, 0 for the others; only for devices with their own thread.",
          add_breakers),
    counter("telegate_device_lost_at_source", "device",
            "Readings lost by the device or the kernel before the gateway received them.",
            each_device([](const DeviceStatus& d) { return d.lost_at_source; })),
    counter("telegate_device_refused", "device",
            "Lines, frames and datagrams of the device that were refused; see last_refused for the reason.",
            each_device([](const DeviceStatus& d) { return d.refused; })),
    counter("telegate_device_filtered", "device, reason",
            "Samples filtered out intentionally, by the stage that filtered them.", add_filtered),
    MetricRow{{"telegate_device_lateness_seconds", MetricType::summary,
               "Delay of readings behind their schedule since the start: median, 99th percentile, maximum."},
              "device, quantile",
              add_lateness},
};

}  // namespace

constinit const std::span<const MetricRow> line_metrics = line_rows;

}  // namespace telegate
