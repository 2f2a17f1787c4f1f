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
                     alarm.state == level);
        }
    }
}

void add_known(Source source, Text text) {
    for (const ChannelAlarm& alarm : source.alarms) {
        const bool is_known = alarm.state != AlarmState::unknown && alarm.quality != Quality::bad;
        text.add({{"device", alarm.device}, {"channel", alarm.channel}}, is_known);
    }
}

void add_acknowledged(Source source, Text text) {
    for (const ChannelAlarm& alarm : source.alarms) {
        text.add({{"device", alarm.device}, {"channel", alarm.channel}}, alarm.acknowledged.has_value());
    }
}

constexpr std::array alarm_rows{
    gauge("telegate_alarm_active", "device, channel, level",
          "1 if the channel's alarm is active at this level (high or low), 0 otherwise.", add_active),
    gauge("telegate_alarm_known", "device, channel",
          "1 if the alarm state of the channel is known, 0 if it is unknown or the channel has no value.", add_known),
    gauge("telegate_alarm_acknowledged", "device, channel",
          "1 if the channel's alarm is active and acknowledged, 0 otherwise.", add_acknowledged),
};

}  // namespace

constinit const std::span<const MetricRow> alarm_metrics = alarm_rows;

}  // namespace telegate
