#include "events/alarms.hpp"

#include "config/quantity.hpp"
#include "config/settings.hpp"
#include "device/common_settings.hpp"
#include "log/log_line.hpp"

namespace telegate {
namespace {

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

std::string topic_of(std::string_view device, std::string_view channel) {
    return std::string(device) + '/' + std::string(channel);
}

LogFields raised_fields(const AlarmNews& news) {
    LogFields fields = LogFields().add("level", to_string(news.state)).number("value", number_text(news.value));
    return news.limit ? fields.number("limit", number_text(*news.limit)) : fields;
}

LogFields cleared_fields(const ChannelAlarm& before, const AlarmNews& news) {
    return LogFields()
        .add("level", to_string(before.state))
        .number("value", number_text(news.value))
        .add("after_s", (news.time_utc_ns - before.since_utc_ns) / nanoseconds_per_second);
}

}  // namespace

void Alarms::restore(std::vector<ChannelAlarm> alarms, bool was_clean) {
    const std::lock_guard lock(mutex_);
    for (ChannelAlarm& alarm : alarms) {
        const bool is_doubtful = !was_clean || alarm.quality != Quality::good;
        if (is_doubtful && alarm.state == AlarmState::normal) {
            alarm.state = AlarmState::unknown;
        }
        alarm.quality = Quality::bad;  // until the channel has a value
        std::string topic = topic_of(alarm.device, alarm.channel);
        by_topic_.insert_or_assign(std::move(topic), std::move(alarm));
    }
}

void Alarms::record(const AlarmNews& news) noexcept {
    std::optional<Event> event;
    {
        const std::string topic = topic_of(news.device, news.channel);
        const std::lock_guard lock(mutex_);
        if (expected_ && !expected_->contains(topic)) {
            return;
        }
        ChannelAlarm& alarm = by_topic_[topic];
        const bool is_new = alarm.device.empty();
        if (is_new) {
            alarm.device = news.device;
            alarm.channel = news.channel;
        }
        if (is_new || alarm.state != news.state) {
            const bool was_active = alarm.is_active();
            const bool is_active = news.state == AlarmState::high || news.state == AlarmState::low;
            if (was_active || is_active) {
                event = Event{.time_utc_ns = news.time_utc_ns,
                              .device = alarm.device,
                              .channel = alarm.channel,
                              .kind = is_active ? EventKind::alarm_raised : EventKind::alarm_cleared,
                              .fields = is_active ? raised_fields(news) : cleared_fields(alarm, news)};
            }
            alarm.state = news.state;
            alarm.since_utc_ns = news.time_utc_ns;
            alarm.acknowledged.reset();
        }
        alarm.quality = news.quality;
        alarm.value = news.value;
        alarm.limit = news.limit;
    }
    if (event) {
        events_.add(std::move(*event));
    }
}

void Alarms::continue_in(ProcessingPlan& plan, std::string_view device) const {
    for (auto& [channel, processing] : plan.channels) {
        processing.alarm_before = state_of(device, channel);
    }
}

Alarms::Topics Alarms::topics_in(const Settings& settings) {
    Topics topics;
    for (const ChannelSettings& channel : settings.channels) {
        if (processing_of(channel).has_alarm()) {
            topics.insert(channel.name);
        }
    }
    return topics;
}

void Alarms::expect(const Settings& settings) {
    Topics topics = topics_in(settings);
    const std::lock_guard lock(mutex_);
    if (expected_) {
        expected_->merge(topics);
    }
}

void Alarms::retain(const Settings& settings) {
    Topics topics = topics_in(settings);
    std::vector<ChannelAlarm> removed;
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(by_topic_, [&](const auto& each) {
            const bool is_gone = !topics.contains(each.first);
            if (is_gone && each.second.is_active()) {
                removed.push_back(each.second);
            }
            return is_gone;
        });
        expected_ = std::move(topics);
    }
    for (const ChannelAlarm& alarm : removed) {
        events_.add(
            {.time_utc_ns = SystemClock().utc_now_ns(),
             .device = alarm.device,
             .channel = alarm.channel,
             .kind = EventKind::alarm_cleared,
             .fields = LogFields().add("level", to_string(alarm.state)).quote("reason", "its limits were removed")});
    }
}

std::vector<ChannelAlarm> Alarms::all() const {
    std::vector<ChannelAlarm> alarms;
    const std::lock_guard lock(mutex_);
    alarms.reserve(by_topic_.size());
    for (const auto& [topic, alarm] : by_topic_) {
        alarms.push_back(alarm);
        if (is_measuring_ && !is_measuring_(alarm.device)) {
            alarms.back().quality = Quality::bad;
        }
    }
    return alarms;
}

AlarmState Alarms::state_of(std::string_view device, std::string_view channel) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_topic_.find(topic_of(device, channel));
    return found == by_topic_.end() ? AlarmState::unknown : found->second.state;
}

Alarms::Acknowledging Alarms::acknowledge(std::string_view device, std::string_view channel,
                                          Acknowledgment acknowledgment) {
    LogFields fields = LogFields().add("by", acknowledgment.by);
    if (!acknowledgment.comment.empty()) {
        fields.quote("comment", acknowledgment.comment);
    }
    const std::int64_t time_utc_ns = acknowledgment.time_utc_ns;
    {
        const std::lock_guard lock(mutex_);
        const auto found = by_topic_.find(topic_of(device, channel));
        if (found == by_topic_.end()) {
            return Acknowledging::no_alarm;
        }
        ChannelAlarm& alarm = found->second;
        if (!alarm.is_active()) {
            return Acknowledging::not_active;
        }
        if (alarm.acknowledged) {
            return Acknowledging::already;
        }
        alarm.acknowledged = std::move(acknowledgment);
    }
    events_.add({.time_utc_ns = time_utc_ns,
                 .device = std::string(device),
                 .channel = std::string(channel),
                 .kind = EventKind::alarm_acknowledged,
                 .fields = std::move(fields)});
    return Acknowledging::done;
}

}  // namespace telegate
