#include "core/text.hpp"
#include "log/log_line.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "status/status_parts.hpp"

#include <string>
#include <vector>

namespace telegate {
namespace {

constexpr std::array subscriber_id{
    RestParameter{.name = "id",
                  .place = RestParameter::Place::path,
                  .schema = R"({"type":"string","pattern":"^[a-z]+-[1-9][0-9]{0,17}$"})",
                  .meaning = "Subscriber: its format and its number among the subscribers of that format."}};

struct SubscriberId {
    PayloadFormat format = PayloadFormat::json;
    std::uint64_t number = 0;
};

std::string to_text(const SubscriberStatus& subscriber) {
    return std::string(to_string(subscriber.format)) + '-' + std::to_string(subscriber.id);
}

std::optional<SubscriberId> to_id(std::string_view text) {
    for (const PayloadFormat format : payload_format_names.values) {
        const std::string_view name = to_string(format);
        if (text.starts_with(name) && text.substr(name.size()).starts_with('-')) {
            const auto number = parse_number<std::uint64_t>(text.substr(name.size() + 1));
            return number ? std::optional(SubscriberId{format, *number}) : std::nullopt;
        }
    }
    return std::nullopt;
}

void list_subscribers(JsonObject& out, const std::vector<SubscriberStatus>& subscribers) {
    out.name_schema("Subscribers");
    out.array("subscribers", subscribers, [](JsonObject& each, const SubscriberStatus& subscriber) {
        list_subscriber(each, subscriber, to_text(subscriber));
    });
}

void list_closed(JsonObject& out, std::string_view id) {
    out.name_schema("ClosedSubscriber");
    out.add("closed", id);
}

HttpResponse get_subscribers(const RestCall& call) {
    const auto subscribers = call.handlers.subscribers();
    return subscribers ? json_response(list_subscribers, *subscribers)
                       : unavailable(call.request, "the gateway did not provide its subscribers in time");
}

HttpResponse delete_subscriber(const RestCall& call) {
    const std::optional<SubscriberId> id = to_id(call.arguments.front());
    const std::optional<bool> closed = id ? call.handlers.close_subscriber(id->format, id->number) : false;
    if (!closed) {
        return unavailable(call.request, "the gateway did not disconnect the subscriber in time");
    }
    if (!*closed) {
        return refused(
            call.request, 404,
            "there is no subscriber " + quoted_text(call.arguments.front()) + "; GET /subscribers lists them");
    }
    HttpResponse response = json_response(list_closed, call.arguments.front());
    response.log_note.add("closed", call.arguments.front());
    return response;
}

constexpr std::array subscriber_route_table{
    RestRoute{.path = "/subscribers",
              .summary = "All connected subscribers.",
              .answer_members = members_of<list_subscribers, std::vector<SubscriberStatus>>,
              .refusals = {503},
              .answer = get_subscribers},
    RestRoute{.method = "DELETE",
              .path = "/subscribers/{id}",
              .role = HttpRole::admin,
              .summary = "Close the connection of one subscriber.",
              .parameters = subscriber_id,
              .answer_members = members_of<list_closed, std::string_view>,
              .refusals = {404, 503},
              .answer = delete_subscriber},
};

}  // namespace

constinit const std::span<const RestRoute> subscriber_routes = subscriber_route_table;

}  // namespace telegate
