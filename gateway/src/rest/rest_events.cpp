#include "config/joined.hpp"
#include "encode/time_text.hpp"
#include "events/event_text.hpp"
#include "events/events.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {
namespace {

constexpr std::size_t events_default = 100;
constexpr std::size_t filter_values_max = 32;
constexpr std::size_t filter_characters_max = 256;
// The number of values that fit into a request target when percent-encoded.
constexpr std::size_t devices_max = 8;
constexpr std::size_t device_characters_max = 64;

constexpr std::array event_kind_names = [] {
    std::array<std::string_view, event_kinds.size()> names;
    std::transform(event_kinds.begin(), event_kinds.end(), names.begin(),
                   [](const EventKindRow& row) { return row.name; });
    return names;
}();
constexpr std::array event_parameters{
    RestParameter{.name = "since",
                  .schema = R"({"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})"
                            R"((\\.[0-9]{1,9})?Z$"})",
                  .meaning =
                      "Only events at or after this time, such as 2026-11-20T23:11:34Z, oldest first; without it and "
                      "since_number, the newest events."},
    RestParameter{.name = "since_number",
                  .schema = R"({"type":"integer","minimum":0,"maximum":9007199254740992})",
                  .meaning = "Only events with a greater number, oldest first."},
    RestParameter{.name = "device",
                  .schema = R"({"type":"array","maxItems":8,"items":{"type":"string","maxLength":64}})",
                  .meaning = "Only events of this device. May be repeated."},
    RestParameter{.name = "kind",
                  .schema = R"({"type":"array","maxItems":32})",
                  .item_names = event_kind_names,
                  .meaning = "Only events of this kind, such as \"device failed\". May be repeated."},
    RestParameter{.name = "limit",
                  .schema = R"({"type":"integer","minimum":1,"maximum":1000,"default":100})",
                  .meaning = "Maximum number of events."},
};

/// The events that a request selects.
struct EventFilter {
    std::optional<std::int64_t> since_utc_ns;
    std::optional<std::uint64_t> since_number;
    std::vector<std::string_view> devices;  // empty: any device
    std::vector<EventKind> kinds;           // empty: any kind
    std::size_t limit = events_default;

    [[nodiscard]] bool selects(const Event& event) const {
        return (!since_utc_ns || event.time_utc_ns >= *since_utc_ns) &&
               (devices.empty() || std::find(devices.begin(), devices.end(), event.device) != devices.end()) &&
               (kinds.empty() || std::find(kinds.begin(), kinds.end(), event.kind) != kinds.end());
    }
    /// Otherwise the newest events are requested.
    [[nodiscard]] bool begins_with_oldest() const noexcept { return since_utc_ns || since_number; }
};

void read_kinds(ParameterReader& reader, EventFilter& filter) {
    for (const std::string_view name : reader.texts("kind", filter_values_max, filter_characters_max)) {
        if (const auto kind = to_event_kind(name)) {
            filter.kinds.push_back(*kind);
            continue;
        }
        reader.fault("kind",
                     "unknown event kind " + quoted_text(name) + ": must be one of " + joined(event_kind_names));
    }
}

EventFilter read_filter(ParameterReader& reader) {
    EventFilter filter;
    if (const std::vector<std::string_view> given = reader.texts("since", 1, filter_characters_max); !given.empty()) {
        const std::string_view since = given.front();
        filter.since_utc_ns = parse_iso8601(since);
        if (!filter.since_utc_ns) {
            reader.fault("since", "invalid time " + quoted_text(since) + ": must be in UTC, like 2026-11-20T23:11:34Z");
        }
    }
    filter.since_number = reader.number("since_number", {0, 9'007'199'254'740'992});
    filter.devices = reader.texts("device", devices_max, device_characters_max);
    read_kinds(reader, filter);
    filter.limit = static_cast<std::size_t>(reader.number("limit", {1, EventLog::events_max}).value_or(events_default));
    return filter;
}

struct FoundEvents {
    std::uint64_t last_number = 0;
    bool has_more = false;
    EventCounts counts;
    std::vector<EventEntry> entries;
};

void list_events(JsonObject& out, const FoundEvents& found) {
    out.name_schema("Events");
    out.add("last_number", found.last_number);
    out.add("more", found.has_more);
    out.object("counts", [&](JsonObject& counts) {
        counts.name_schema("EventCounts");
        counts.add("added", found.counts.added);
        counts.add("suppressed", found.counts.suppressed);
        counts.add("overwritten", found.counts.overwritten);
    });
    out.array("events", found.entries, list_event);
}

HttpResponse get_events(const RestCall& call) {
    ParameterReader reader(call);
    const EventFilter filter = read_filter(reader);
    if (reader.failed()) {
        return reader.refusal();
    }
    const EventLog& log = *call.handlers.events;
    std::vector<EventEntry> entries = log.after(filter.since_number.value_or(0));
    std::erase_if(entries, [&](const EventEntry& each) { return !filter.selects(*each.event); });
    const std::size_t left_out = entries.size() - std::min(entries.size(), filter.limit);
    if (filter.begins_with_oldest()) {
        entries.resize(entries.size() - left_out);
    } else {
        entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(left_out));
    }
    return json_response(list_events, FoundEvents{log.last_number(), left_out > 0, log.counts(), std::move(entries)});
}

constexpr std::array event_route_table{
    RestRoute{.path = "/events",
              .summary = "The latest events of devices, alarms and the gateway.",
              .parameters = event_parameters,
              .answer_members = members_of<list_events, FoundEvents>,
              .answer = get_events},
};

}  // namespace

constinit const std::span<const RestRoute> event_routes = event_route_table;

}  // namespace telegate
