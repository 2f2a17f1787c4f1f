#include "core/clock.hpp"
#include "encode/time_text.hpp"
#include "events/alarms.hpp"
#include "events/event_text.hpp"
#include "events/events.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace telegate {
namespace {

/// Number of alarm events in GET /alarms; GET /events has more.
constexpr std::size_t recent_max = 100;

constexpr std::array acknowledge_parameters{
    path_parameter("device", "Device of the alarm."),
    path_parameter("channel", "Channel whose values the alarm watches, without `.alarm`."),
    RestParameter{.name = "comment",
                  .schema = R"({"type":"string","maxLength":256})",
                  .meaning = "Comment that is kept with the acknowledgment."},
};

void list_alarm(JsonObject& out, const ChannelAlarm& alarm) {
    out.name_schema("Alarm");
    out.add("device", alarm.device);
    out.add("channel", alarm.channel);
    out.add("state", alarm.state);
    out.add("active", alarm.is_active());
    out.add_named("quality", "Quality", alarm.quality);
    out.add("value", alarm.value);
    out.add("limit", alarm.limit);
    out.add("since", time_or_null(alarm.since_utc_ns));
    out.object_or_null("acknowledged", alarm.acknowledged, [](JsonObject& each, const Acknowledgment& acknowledged) {
        each.name_schema("Acknowledgment");
        each.add("time", to_iso8601(acknowledged.time_utc_ns));
        each.add("by", acknowledged.by);
        each.add("comment", acknowledged.comment);
    });
}

struct ShownAlarms {
    std::vector<ChannelAlarm> active;
    std::vector<ChannelAlarm> inactive;
    std::vector<EventEntry> recent;  // the latest events
};

void list_alarms(JsonObject& out, const ShownAlarms& shown) {
    out.name_schema("Alarms");
    out.array("active", shown.active, list_alarm);
    out.array("inactive", shown.inactive, list_alarm);
    out.array("recent", shown.recent, list_event);
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
    ShownAlarms shown;
    for (const ChannelAlarm& alarm : call.handlers.alarms->all()) {
        (alarm.is_active() ? shown.active : shown.inactive).push_back(alarm);
    }
    std::vector<EventEntry>& recent = shown.recent;
    recent = call.handlers.events->after(0);
    std::erase_if(recent, [](const EventEntry& each) { return !is_about_alarm(each); });
    const std::size_t left_out = recent.size() - std::min(recent.size(), recent_max);
    recent.erase(recent.begin(), recent.begin() + static_cast<std::ptrdiff_t>(left_out));
    return json_response(list_alarms, shown);
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
            return json_response(list_alarm, alarm);
        }
    }
    return refused(call.request, 404, "the alarm of " + name + " was removed by a change of the settings");
}

constexpr std::array alarm_route_table{
    RestRoute{.path = "/alarms",
              .summary = "Active and inactive alarms, and the latest alarm events.",
              .answer_members = members_of<list_alarms, ShownAlarms>,
              .answer = get_alarms},
    RestRoute{.method = "POST",
              .path = "/alarms/{device}/{channel}/acknowledge",
              .role = HttpRole::admin,
              .summary = "Acknowledge an active alarm until its state changes.",
              .parameters = acknowledge_parameters,
              .answer_members = members_of<list_alarm, ChannelAlarm>,
              .refusals = {404, 409},
              .answer = post_acknowledge},
};

}  // namespace

constinit const std::span<const RestRoute> alarm_routes = alarm_route_table;

}  // namespace telegate
