#include "events/alarm_file.hpp"

#include "support/catch.hpp"

#include <string>
#include <variant>

using namespace telegate;

TEST_CASE("the alarm file returns what was written", "[alarms]") {
    ChannelAlarm high{.device = "boiler",
                      .channel = "temp",
                      .state = AlarmState::high,
                      .value = 95.5,
                      .limit = 90.0,
                      .since_utc_ns = 1'795'216'294'000'000'000};
    high.acknowledged = Acknowledgment{1'795'216'295'000'000'000, "ann", "pump \"2\" off"};
    const ChannelAlarm normal{
        .device = "boiler", .channel = "level", .state = AlarmState::normal, .quality = Quality::uncertain};
    const auto result = read_alarms(alarms_file_text({true, {high, normal}}));
    const auto* const saved = std::get_if<SavedAlarms>(&result);
    REQUIRE(saved != nullptr);
    CHECK(saved->is_clean);
    REQUIRE(saved->alarms.size() == 2);
    CHECK(saved->alarms[0].channel == "temp");
    CHECK(saved->alarms[0].state == AlarmState::high);
    CHECK(saved->alarms[0].value == 95.5);
    CHECK(saved->alarms[0].limit == 90.0);
    CHECK(saved->alarms[0].since_utc_ns == high.since_utc_ns);
    REQUIRE(saved->alarms[0].acknowledged);
    CHECK(saved->alarms[0].acknowledged->comment == "pump \"2\" off");
    CHECK(saved->alarms[1].quality == Quality::uncertain);
    CHECK_FALSE(saved->alarms[1].limit);
    CHECK_FALSE(saved->alarms[1].acknowledged);
}

TEST_CASE("the alarm file returns an active alarm without a limit", "[alarms]") {
    const auto result = read_alarms(
        R"({"version":1,"clean":true,"alarms":[{"device":"a","channel":"b","state":"high","doubtful":false,"since_ns":1,"value":1,"limit":null}]})");
    const auto* const saved = std::get_if<SavedAlarms>(&result);
    REQUIRE(saved != nullptr);
    REQUIRE(saved->alarms.size() == 1);
    CHECK_FALSE(saved->alarms[0].limit);
}

TEST_CASE("an invalid alarm file is refused with the location of the problem", "[alarms]") {
    const auto [text, why] = GENERATE(table<std::string, std::string>(
        {{"", "is not JSON in UTF-8, see byte 1"},
         {"[1]", "is not a JSON object"},
         {R"({"version":2,"clean":true,"alarms":[]})", "unknown version: must be 1"},
         {R"({"version":1,"alarms":[]})", "alarm 1 or the header has a missing or invalid member"},
         {R"({"version":1,"clean":true,"alarms":[{"device":1}]})",
          "alarm 1 or the header has a missing or invalid member"},
         {R"({"version":1,"clean":true,"alarms":[[[[[[[1]]]]]]]})", "is nested too deeply: must be at most 5 levels"},
         {R"({"version":1,"clean":true,"alarms":[{"device":"a","channel":"b","state":"odd","doubtful":true,"since_ns":1,"value":1}]})",
          "alarm 1 has an unknown state or a time before 1970"},
         {R"({"version":1,"clean":true,"alarms":[{"device":"a","channel":"b","state":"high","doubtful":true,"since_ns":-9223372036854775808,"value":1}]})",
          "alarm 1 has an unknown state or a time before 1970"}}));
    const auto result = read_alarms(text);
    REQUIRE(std::holds_alternative<std::string>(result));
    CHECK(std::get<std::string>(result) == why);
}
