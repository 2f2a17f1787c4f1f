#include "base/readable_bytes.hpp"
#include "core/clock.hpp"
#include "encode/time_text.hpp"
#include "events/alarms.hpp"
#include "events/event_text.hpp"
#include "events/events.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace telegate {
namespace {

using AlarmJson = nlohmann::ordered_json;

/// Number of alarm events in GET /alarms; GET /events has more.
constexpr std::size_t recent_max = 100;

constexpr std::array acknowledge_refusals{404, 409};
constexpr std::array acknowledge_parameters{
    RestParameter{.name = "device",
                  .place = RestParameter::Place::path,
                  .schema = R"({"type":"string","minLength":1})",
                  .meaning = "Device of the alarm."},
    RestParameter{.name = "channel",
                  .place = RestParameter::Place::path,
                  .schema = R"({"type":"string","minLength":1})",
                  .meaning = "Channel whose values the alarm watches, without `.alarm`."},
    RestParameter{.name = "comment",
                  .schema = R"({"type":"string","maxLength":256})",
                  .meaning = "Comment that is kept with the acknowledgment."},
};

AlarmJson acknowledgment_json(const ChannelAlarm& alarm) {
    if (!alarm.acknowledged) {
        return nullptr;
    }
    return {{"time", to_iso8601(alarm.acknowledged->time_utc_ns)},
            {"by", alarm.acknowledged->by},
            {"comment", alarm.acknowledged->comment}};
}

AlarmJson alarm_json(const ChannelAlarm& alarm) {
    return {{"device", alarm.device},
            {"channel", alarm.channel},
            {"state", to_string(alarm.state)},
            {"active", alarm.is_active()},
            {"quality", to_string(alarm.quality)},
            {"value", alarm.value},
            {"limit", alarm.limit ? AlarmJson(*alarm.limit) : AlarmJson()},
            {"since", alarm.since_utc_ns == 0 ? AlarmJson() : AlarmJson(to_iso8601(alarm.since_utc_ns))},
            {"acknowledged", acknowledgment_json(alarm)}};
}

std::string alarm_text(const AlarmJson& json) {
    return json.dump(-1, ' ', false, AlarmJson::error_handler_t::replace);  // a comment may contain any bytes
}

bool is_about_alarm(const EventEntry& entry) {
    switch (entry.event->kind) {
        case EventKind::alarm_raised:
        case EventKind::alarm_cleared:
        case EventKind::alarm_acknowledged: return true;
        default: return false;
    }
}

HttpResponse get_alarms(const RestCall& call) {
    std::string active;
    std::string others;
    for (const ChannelAlarm& alarm : call.handlers.alarms->all()) {
        std::string& list = alarm.is_active() ? active : others;
        list += (list.empty() ? "" : ",") + alarm_text(alarm_json(alarm));
    }
    std::vector<EventEntry> entries = call.handlers.events->after(0);
    std::erase_if(entries, [](const EventEntry& each) { return !is_about_alarm(each); });
    const std::size_t first = entries.size() - std::min(entries.size(), recent_max);
    std::string recent;
    for (std::size_t i = first; i < entries.size(); ++i) {
        recent += (recent.empty() ? "" : ",") + event_json(entries[i]);
    }
    return {200,
            "application/json",
            R"({"active":[)" + active + R"(],"inactive":[)" + others + R"(],"recent":[)" + recent + "]}\n",
            {}};
}

HttpResponse post_acknowledge(const RestCall& call) {
    using Acknowledging = Alarms::Acknowledging;
    ParameterReader reader(call);
    const std::string_view comment = reader.text("comment", Alarms::comment_bytes_max);
    if (reader.failed()) {
        return reader.refusal();
    }
    const std::string_view device = call.arguments[0];
    const std::string_view channel = call.arguments[1];
    const std::string name = quoted_text(std::string(device) + '/' + std::string(channel));
    const std::string by(call.request.who.empty() ? "rest" : call.request.who);
    switch (
        call.handlers.alarms->acknowledge(device, channel, {SystemClock().utc_now_ns(), by, std::string(comment)})) {
        case Acknowledging::no_alarm:
            return refused(call.request, 404,
                           "there is no channel with an alarm named " + name + "; GET /alarms lists them");
        case Acknowledging::not_active:
            return refused(call.request, 409, "the alarm of " + name + " is not active, so it cannot be acknowledged");
        case Acknowledging::already:
        case Acknowledging::done: break;
    }
    for (const ChannelAlarm& alarm : call.handlers.alarms->all()) {
        if (alarm.device == device && alarm.channel == channel) {
            return {200, "application/json", alarm_text(alarm_json(alarm)) + '\n', {}};
        }
    }
    return refused(call.request, 404, "the alarm of " + name + " was removed by a change of the settings");
}

constexpr std::array alarm_route_table{
    RestRoute{.path = "/alarms",
              .summary = "Active and inactive alarms, and the latest alarm events.",
              .gives = gives_json,
              .answer_schema = "Alarms",
              .answer = get_alarms},
    RestRoute{.method = "POST",
              .path = "/alarms/{device}/{channel}/acknowledge",
              .role = HttpRole::admin,
              .summary = "Acknowledge an active alarm until its state changes.",
              .parameters = acknowledge_parameters,
              .gives = gives_json,
              .answer_schema = "Alarm",
              .refusals = acknowledge_refusals,
              .answer = post_acknowledge},
};

}  // namespace

std::span<const RestRoute> alarm_routes() noexcept {
    return alarm_route_table;
}

}  // namespace telegate
