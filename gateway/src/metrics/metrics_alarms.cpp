#include "metrics/metrics_table.hpp"

#include <array>

namespace telegate {
namespace {

using Source = const MetricsSource&;
using Text = MetricText&;

void add_active(Source source, Text text) {
    for (const ChannelAlarm& alarm : source.alarms) {
        for (const AlarmState level : {AlarmState::high, AlarmState::low}) {
            text.add({{"device", alarm.device}, {"channel", alarm.channel}, {"level", to_string(level)}},
                     std::uint64_t{alarm.state == level});
        }
    }
}

void add_known(Source source, Text text) {
    for (const ChannelAlarm& alarm : source.alarms) {
        const bool is_known = alarm.state != AlarmState::unknown && alarm.quality != Quality::bad;
        text.add({{"device", alarm.device}, {"channel", alarm.channel}}, std::uint64_t{is_known});
    }
}

void add_acknowledged(Source source, Text text) {
    for (const ChannelAlarm& alarm : source.alarms) {
        text.add({{"device", alarm.device}, {"channel", alarm.channel}}, std::uint64_t{alarm.acknowledged.has_value()});
    }
}

// clang-format off
constexpr std::array alarm_rows{
    MetricRow{{"telegate_alarm_active", MetricType::gauge, "",
               "1 if the channel's alarm is active at this level (high or low), 0 otherwise."},
              "device, channel, level", add_active},
    MetricRow{{"telegate_alarm_known", MetricType::gauge, "",
               "1 if the alarm state of the channel is known, 0 if it is unknown or the channel has no value."},
              "device, channel", add_known},
    MetricRow{{"telegate_alarm_acknowledged", MetricType::gauge, "",
               "1 if the channel's alarm is active and acknowledged, 0 otherwise."},
              "device, channel", add_acknowledged},
};
// clang-format on

}  // namespace

std::span<const MetricRow> alarm_metrics() noexcept {
    return alarm_rows;
}

}  // namespace telegate
