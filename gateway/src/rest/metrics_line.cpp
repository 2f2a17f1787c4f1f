#include "encode/time_text.hpp"
#include "rest/metrics_table.hpp"

#include <algorithm>
#include <array>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;

/// What each device's books say.
template <class Value>
void add_books(Source source, Text text, const Value& value) {
    const auto& devices = source.snapshot.devices;
    for (std::size_t i = 0; i < std::min(devices.size(), source.snapshot.books.size()); ++i) {
        text.add({{"device", devices[i].name}}, value(source.snapshot.books[i]));
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
    for (std::size_t i = 0; i < std::min(devices.size(), source.snapshot.books.size()); ++i) {
        for (std::size_t reason = 0; reason < drop_reasons; ++reason) {
            text.add({{"device", devices[i].name}, {"reason", to_string(static_cast<DropReason>(reason))}},
                     source.snapshot.books[i].dropped[reason]);
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
        text.add({{"format", format}, {"kind", "beat"}}, source.snapshot.notices[i].beats);
    }
}

void add_balanced(Source source, Text text) {
    const auto& books = source.snapshot.books;
    text.add_flag({}, source.snapshot.queue_agrees && source.snapshot.channels_agree &&
                          std::all_of(books.begin(), books.end(), [](const Books& book) { return book.balanced(); }));
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
    if (source.handlers.events != nullptr) {
        const EventCounts counts = source.handlers.events->counts();
        text.add({{"outcome", "added"}}, counts.added);
        text.add({{"outcome", "held_back"}}, counts.held_back);
        text.add({{"outcome", "overwritten"}}, counts.overwritten);
        text.add({{"outcome", "lost"}}, counts.lost);
    }
}

/// Of each device, also when it has none, so that an alert can compare.
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
    MetricRow{{"telegate_samples_captured", MetricType::counter, "", "Samples taken from the device."}, "device",
              [](Source s, Text t) { add_books(s, t, [](const Books& b) { return b.sampled; }); }},
    MetricRow{{"telegate_samples_published", MetricType::counter, "",
               "Samples given to the publishers, whether or not anybody had subscribed."}, "device",
              [](Source s, Text t) { add_books(s, t, [](const Books& b) { return b.published; }); }},
    MetricRow{{"telegate_samples_filtered", MetricType::counter, "", "Samples held back on purpose."}, "device",
              [](Source s, Text t) { add_books(s, t, [](const Books& b) { return b.filtered; }); }},
    MetricRow{{"telegate_samples_dropped", MetricType::counter, "", "Samples lost between the device and the publishers."},
              "device, reason", add_dropped},
    MetricRow{{"telegate_samples_queued", MetricType::gauge, "", "Samples on their way from the device to the publishers."},
              "device", [](Source s, Text t) { add_books(s, t, [](const Books& b) { return b.queued; }); }},
    MetricRow{{"telegate_books_balanced", MetricType::gauge, "",
               "1 when captured = published + filtered + dropped + queued for every device, and its channels say the same, "
               "0 when not."}, "", add_balanced},
    MetricRow{{"telegate_notices_published", MetricType::counter, "",
               "Notices given to the publishers: of samples lost before that, and of silent channels."}, "format, kind",
              add_notices},
    MetricRow{{"telegate_queue_depth", MetricType::gauge, "", "Samples in the queue."}, "",
              [](Source s, Text t) { t.add({}, std::uint64_t{s.snapshot.queue_depth}); }},
    MetricRow{{"telegate_queue_capacity", MetricType::gauge, "", "Samples that the queue holds at most."}, "",
              [](Source s, Text t) { t.add({}, std::uint64_t{s.snapshot.queue_capacity}); }},
    MetricRow{{"telegate_queue_high_water", MetricType::gauge, "", "The most samples that the queue has held; with several sampling threads the sum of their highest."}, "",
              [](Source s, Text t) { t.add({}, std::uint64_t{s.snapshot.queue_high_water}); }},
    MetricRow{{"telegate_device_state", MetricType::gauge, "", "1 for the state that the device is in, 0 for the others."},
              "device, state", add_states},
    MetricRow{{"telegate_device_interval_seconds", MetricType::gauge, "seconds", "Time between two readings."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return to_seconds(d.interval); }); }},
    MetricRow{{"telegate_device_channels", MetricType::gauge, "", "Channels that the device has."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return std::uint64_t{d.channels}; }); }},
    MetricRow{{"telegate_device_channel_sections_unclaimed", MetricType::gauge, "",
               "Sections of channels in the settings whose name no channel of the device has, a minute after it was read."},
              "device", add_unclaimed},
    MetricRow{{"telegate_device_reads", MetricType::counter, "", "Readings that have ended."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.reads; }); }},
    MetricRow{{"telegate_device_reads_failed", MetricType::counter, "", "Readings that failed."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.reads_failed; }); }},
    MetricRow{{"telegate_device_ticks_missed", MetricType::counter, "",
               "Readings left out because the one before took too long."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.ticks_missed; }); }},
    MetricRow{{"telegate_device_reads_skipped", MetricType::counter, "",
               "Readings left out because the device had failed too often in a row."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.reads_skipped; }); }},
    MetricRow{{"telegate_device_failures_in_row", MetricType::gauge, "", "Readings that failed since the last good one."},
              "device", [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.failures_in_row; }); }},
    MetricRow{{"telegate_device_outages", MetricType::counter, "", "How often the device has begun to fail."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.outages; }); }},
    MetricRow{{"telegate_device_last_good_timestamp_seconds", MetricType::gauge, "seconds",
               "When the device last gave a reading, in seconds since 1970; not there before the first."}, "device", add_last_good},
    MetricRow{{"telegate_device_state_since_timestamp_seconds", MetricType::gauge, "seconds",
               "Since when the device is in its state, in seconds since 1970."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return seconds_of(d.state_since_utc_ns); }); }},
    MetricRow{{"telegate_device_stopped", MetricType::gauge, "",
               "1 when somebody has stopped a device that its settings start, 0 otherwise."}, "device", add_stopped},
    MetricRow{{"telegate_device_samples_bad", MetricType::counter, "", "Samples of quality bad."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.samples_bad; }); }},
    MetricRow{{"telegate_device_channels_bad", MetricType::gauge, "",
               "Channels that have been bad for a minute or longer while the device measures."}, "device", add_channels_bad},
    MetricRow{{"telegate_events", MetricType::counter, "",
               "Events of devices and alarms: added to GET /events, held back, overwritten there, lost for lack of memory."},
              "outcome", add_events},
    MetricRow{{"telegate_device_breaker_state", MetricType::gauge, "",
               "1 for the state that the breaker is in, 0 for the others; of devices with a thread of their own."},
              "device, state", add_breakers},
    MetricRow{{"telegate_device_lost_at_source", MetricType::counter, "",
               "Readings that the device, or the kernel for it, lost before they were taken."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.lost_at_source; }); }},
    MetricRow{{"telegate_device_refused", MetricType::counter, "",
               "Lines, frames and datagrams of the device that were not taken; its last_refused says why."}, "device",
              [](Source s, Text t) { add_devices(s, t, [](const DeviceStatus& d) { return d.refused; }); }},
    MetricRow{{"telegate_device_filtered", MetricType::counter, "", "Samples held back on purpose, by the stage that did."},
              "device, reason", add_filtered},
    MetricRow{{"telegate_device_lateness_seconds", MetricType::summary, "seconds",
               "How late readings began since the start: median, 99th percentile, worst."}, "device, quantile", add_lateness},
};
// clang-format on

}  // namespace

std::span<const MetricRow> line_metrics() noexcept {
    return line_rows;
}

}  // namespace telegate
