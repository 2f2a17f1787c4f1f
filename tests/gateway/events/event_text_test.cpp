#include "events/event_text.hpp"

#include "support/catch.hpp"

#include <memory>
#include <string>
#include <variant>
#include <vector>

using namespace telegate;

namespace {

EventEntry event_entry(std::uint64_t number, const std::string& device, const std::string& text) {
    return {number, 2,
            std::make_shared<const Event>(
                Event{1'700'000'000'123'456'789, device, "temp", EventKind::device_failed, text})};
}

std::string events_fault(const std::string& text) {
    const auto result = read_events(text);
    return std::holds_alternative<std::string>(result) ? std::get<std::string>(result) : "no fault";
}

std::string events_file(const std::string& event) {
    return R"({"version":1,"events":[)" + event + "]}";
}

}  // namespace

TEST_CASE("an event file is read back as it was written", "[gateway][events]") {
    const std::string text = "reason=\"a\\\"\n\xC3\xA4\"";
    const std::vector<EventEntry> entries{event_entry(7, "plc", text), event_entry(9, "", "")};
    const auto result = read_events(events_file_text(entries));
    REQUIRE(std::holds_alternative<std::vector<EventEntry>>(result));
    const auto& read = std::get<std::vector<EventEntry>>(result);
    REQUIRE(read.size() == 2);
    CHECK(read[0].number == 7);
    CHECK(read[0].suppressed == 2);
    CHECK(read[0].event->time_utc_ns == 1'700'000'000'123'456'789);
    CHECK(read[0].event->device == "plc");
    CHECK(read[0].event->channel == "temp");
    CHECK(read[0].event->kind == EventKind::device_failed);
    CHECK(read[0].event->text == text);
    CHECK(read[1].number == 9);
    CHECK(std::get<std::vector<EventEntry>>(read_events(events_file_text({}))).empty());
}

TEST_CASE("bytes that are not UTF-8 do not prevent events from being written", "[gateway][events]") {
    const auto result = read_events(events_file_text({event_entry(1, "plc", "\xFF")}));
    CHECK(std::get<std::vector<EventEntry>>(result).at(0).event->text == "\xEF\xBF\xBD");
}

TEST_CASE("an event of an unknown kind is ignored", "[gateway][events]") {
    const std::string known = event_json(event_entry(2, "plc", ""));
    const std::string unknown =
        R"({"number":1,"time":"2026-11-20T23:11:34Z","device":"","channel":"","kind":"new","text":"","suppressed":0})";
    const auto result = read_events(events_file(unknown + ',' + known));
    REQUIRE(std::holds_alternative<std::vector<EventEntry>>(result));
    CHECK(std::get<std::vector<EventEntry>>(result).size() == 1);
}

TEST_CASE("a problem in an event file is named", "[gateway][events]") {
    CHECK(events_fault("{") == "is not JSON in UTF-8, see byte 2");
    CHECK(events_fault("[]") == "must be an object of version 1 and events");
    CHECK(events_fault(R"({"version":2,"events":[]})") == "must be an object of version 1 and events");
    CHECK(events_fault(events_file("[[[[[]]]]]")) == "is nested too deeply: must be at most 4 levels");
    CHECK(events_fault(events_file("1")) == "event 1 must be an object");
    CHECK(events_fault(events_file(R"({"number":0,"suppressed":0})")) ==
          "event 1 must have whole numbers as number and suppressed");
    CHECK(events_fault(events_file(R"({"number":1,"suppressed":0})")) ==
          "event 1 must have texts as time, device, channel, kind and text");
    CHECK(events_fault(events_file(
              R"({"number":1,"time":"now","device":"","channel":"","kind":"x","text":"","suppressed":0})")) ==
          "event 1 has an invalid time: must be like 2026-11-20T23:11:34Z");
    const std::string event = event_json(event_entry(5, "plc", ""));
    CHECK(events_fault(events_file(event + ',' + event)) ==
          "event 2 has a number that is not greater than the one before");
}
