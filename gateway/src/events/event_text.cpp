#include "events/event_text.hpp"

#include "base/json_object.hpp"
#include "base/strict_json.hpp"
#include "encode/time_text.hpp"
#include "log/log_line.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace telegate {
namespace {

using EventJson = nlohmann::ordered_json;

// 2^53: a double represents every smaller integer exactly
constexpr std::uint64_t event_number_max = 9'007'199'254'740'992;
constexpr std::size_t events_depth_max = 4;

/// Returns nullptr if the member is missing or not a text.
const std::string* text_of_member(const EventJson& json, const char* key) {
    const auto found = json.find(key);
    return found == json.end() ? nullptr : found->get_ptr<const std::string*>();
}

std::optional<std::uint64_t> count_of_member(const EventJson& json, const char* key) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() > event_number_max) {
        return std::nullopt;
    }
    return found->get<std::uint64_t>();
}

/// Parses one event. Returns the error text; "" if it is valid. An event of an unknown kind leaves `entry.event` null.
std::string take_event(const EventJson& json, EventEntry& entry) {
    const auto number = count_of_member(json, "number");
    const auto suppressed = count_of_member(json, "suppressed");
    if (!number || *number == 0 || !suppressed) {
        return "must have whole numbers as number and suppressed";
    }
    const std::string* const time = text_of_member(json, "time");
    const std::string* const device = text_of_member(json, "device");
    const std::string* const channel = text_of_member(json, "channel");
    const std::string* const kind = text_of_member(json, "kind");
    const std::string* const text = text_of_member(json, "text");
    if (time == nullptr || device == nullptr || channel == nullptr || kind == nullptr || text == nullptr) {
        return "must have texts as time, device, channel, kind and text";
    }
    const auto time_utc_ns = parse_iso8601(*time);
    if (!time_utc_ns) {
        return "has an invalid time: must be like 2026-11-20T23:11:34Z";
    }
    entry = {*number, *suppressed, nullptr};
    if (const auto known = to_event_kind(*kind)) {
        entry.event = std::make_shared<const Event>(Event{*time_utc_ns, *device, *channel, *known, *text});
    }
    return "";
}

}  // namespace

LogLine event_line(const EventEntry& entry) {
    const Event& event = *entry.event;
    LogLine line(to_string(event.kind));
    if (!event.device.empty()) {
        line.add("device", event.device);
    }
    if (!event.channel.empty()) {
        line.add("channel", event.channel);
    }
    line.append(event.fields);
    return entry.suppressed == 0 ? line : line.add("suppressed", entry.suppressed);
}

void list_event(JsonObject& out, const EventEntry& entry) {
    static const Event none;
    const Event& event = entry.event ? *entry.event : none;
    out.name_schema("Event");
    out.add("number", Described{entry.number, schema_from_1});
    out.add("time", to_iso8601(event.time_utc_ns));
    out.add("device", event.device);
    out.add("channel", event.channel);
    out.add("kind", Described{to_string(event.kind), R"({"type":"string"})"});
    out.add("text", event.text);
    out.add("suppressed", entry.suppressed);
}

std::string event_json(const EventEntry& entry) {
    return json_object_text([&](JsonObject& out) { list_event(out, entry); });
}

std::string events_file_text(const std::vector<EventEntry>& entries) {
    std::string out = "{\"version\":1,\"events\":[";
    for (const EventEntry& entry : entries) {
        out += out.back() == '[' ? "\n " : ",\n ";
        out += event_json(entry);
    }
    return out + "\n]}\n";
}

std::variant<std::vector<EventEntry>, std::string> read_events(std::string_view text) {
    EventJson json;
    if (const auto fault = read_strict_json(text, {events_depth_max}, json)) {
        return fault->text();
    }
    if (!json.is_object() || count_of_member(json, "version") != 1 || !json.contains("events") ||
        !json["events"].is_array()) {
        return "must be an object of version 1 and events";
    }
    std::vector<EventEntry> entries;
    std::uint64_t last = 0;
    for (const EventJson& each : json["events"]) {
        EventEntry entry;
        std::string fault = each.is_object() ? take_event(each, entry) : "must be an object";
        if (fault.empty() && entry.number <= last) {
            fault = "has a number that is not greater than the one before";
        }
        if (!fault.empty()) {
            return "event " + std::to_string(entries.size() + 1) + ' ' + fault;
        }
        last = entry.number;
        if (entry.event != nullptr) {
            entries.push_back(std::move(entry));
        }
    }
    return entries;
}

}  // namespace telegate
