#include "events/alarms.hpp"

#include "config/settings.hpp"

#include "device/common_settings.hpp"
#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <string>
#include <vector>

using namespace telegate;

namespace {

constexpr std::int64_t alarm_second_ns = 1'000'000'000;

struct AlarmBench {
    test::ManualClock clock;
    EventLog events{clock};
    Alarms alarms{events};

    void record(AlarmState state, double value, std::int64_t second, Quality quality = Quality::good) {
        const bool is_active = state == AlarmState::high || state == AlarmState::low;
        alarms.record({.device = "boiler",
                       .channel = "temp",
                       .state = state,
                       .quality = quality,
                       .value = value,
                       .limit = is_active ? std::optional(90.0) : std::nullopt,
                       .time_utc_ns = second * alarm_second_ns});
    }
    std::vector<std::string> lines() const {
        std::vector<std::string> lines;
        for (const EventEntry& entry : events.after(0)) {
            const Event& event = *entry.event;
            lines.push_back(std::string(to_string(event.kind)) + ' ' + event.device + '/' + event.channel + ' ' +
                            event.text);
        }
        return lines;
    }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("raising and clearing an alarm adds two events", "[alarms]") {
    AlarmBench bench;
    bench.record(AlarmState::unknown, 20.0, 1);
    bench.record(AlarmState::normal, 20.0, 2);
    bench.record(AlarmState::high, 95.5, 10);
    bench.record(AlarmState::high, 96.0, 11);
    CHECK(bench.alarms.all().front().since_utc_ns == 10 * alarm_second_ns);
    CHECK(bench.alarms.all().front().value == 96.0);
    CHECK(bench.alarms.all().front().limit == 90.0);
    bench.record(AlarmState::normal, 70.0, 72);
    CHECK(bench.lines() == Lines{"alarm raised boiler/temp level=high value=95.5 limit=90",
                                 "alarm cleared boiler/temp level=high value=70 after_s=62"});
    CHECK_FALSE(bench.alarms.all().front().is_active());
}

TEST_CASE("a channel without a value keeps its alarm, with quality bad", "[alarms]") {
    AlarmBench bench;
    bench.record(AlarmState::high, 95.5, 10);
    bench.record(AlarmState::high, 95.5, 11, Quality::bad);
    CHECK(bench.alarms.all().front().is_active());
    CHECK(bench.alarms.all().front().quality == Quality::bad);
    CHECK(bench.lines().size() == 1);
}

TEST_CASE("a removed alarm does not return with the last reading of the previous device", "[alarms]") {
    AlarmBench bench;
    Settings settings;
    settings.channels.resize(1);
    settings.channels[0].name = "boiler/temp";
    part_of<ProcessingSettings>(settings.channels[0].parts).how.alarm_high = 90.0;
    bench.alarms.retain(settings);
    bench.record(AlarmState::high, 95.0, 1);
    REQUIRE(bench.alarms.all().size() == 1);
    bench.alarms.expect({});  // a reload without the alarm
    bench.alarms.retain({});
    bench.record(AlarmState::high, 96.0, 2);
    CHECK(bench.alarms.all().empty());
    bench.alarms.expect(settings);  // a reload with it: its device may report before the reload has ended
    bench.record(AlarmState::high, 97.0, 3);
    bench.alarms.retain(settings);
    CHECK(bench.alarms.all().size() == 1);
}

TEST_CASE("an acknowledgment is part of the record and holds until the alarm changes", "[alarms]") {
    using Acknowledging = Alarms::Acknowledging;
    AlarmBench bench;
    CHECK(bench.alarms.acknowledge("boiler", "temp", {}) == Acknowledging::no_alarm);
    bench.record(AlarmState::normal, 20.0, 1);
    CHECK(bench.alarms.acknowledge("boiler", "temp", {}) == Acknowledging::not_active);
    bench.record(AlarmState::high, 95.0, 2);
    CHECK(bench.alarms.acknowledge("boiler", "temp", {3 * alarm_second_ns, "ann", "pump off"}) == Acknowledging::done);
    CHECK(bench.alarms.acknowledge("boiler", "temp", {4 * alarm_second_ns, "bob", ""}) == Acknowledging::already);
    CHECK(bench.alarms.all().front().acknowledged->by == "ann");
    CHECK(bench.lines().back() == "alarm acknowledged boiler/temp by=ann comment=\"pump off\"");
    bench.record(AlarmState::low, 5.0, 5);
    CHECK_FALSE(bench.alarms.all().front().acknowledged);
}

TEST_CASE("an alarm from before a restart is not raised again", "[alarms]") {
    AlarmBench bench;
    ChannelAlarm before{
        .device = "boiler", .channel = "temp", .state = AlarmState::high, .since_utc_ns = 1 * alarm_second_ns};
    before.acknowledged = Acknowledgment{2 * alarm_second_ns, "ann", ""};
    bench.alarms.restore({before}, true);
    CHECK(bench.alarms.state_of("boiler", "temp") == AlarmState::high);
    bench.record(AlarmState::high, 95.0, 100);
    CHECK(bench.lines().empty());
    CHECK(bench.alarms.all().front().since_utc_ns == 1 * alarm_second_ns);
    CHECK(bench.alarms.all().front().acknowledged);
}

TEST_CASE("a normal alarm with doubtful quality is unknown after a restart", "[alarms]") {
    AlarmBench bench;
    bench.alarms.restore(
        {{.device = "boiler", .channel = "temp", .state = AlarmState::normal, .quality = Quality::uncertain},
         {.device = "boiler", .channel = "flow", .state = AlarmState::normal, .quality = Quality::good}},
        true);
    CHECK(bench.alarms.state_of("boiler", "temp") == AlarmState::unknown);
    CHECK(bench.alarms.state_of("boiler", "flow") == AlarmState::normal);
}

TEST_CASE("after a run that did not stop cleanly a normal alarm is unknown", "[alarms]") {
    AlarmBench bench;
    const ChannelAlarm normal{.device = "boiler", .channel = "temp", .state = AlarmState::normal};
    const ChannelAlarm low{.device = "boiler", .channel = "level", .state = AlarmState::low};
    bench.alarms.restore({normal, low}, false);
    CHECK(bench.alarms.state_of("boiler", "temp") == AlarmState::unknown);
    CHECK(bench.alarms.state_of("boiler", "level") == AlarmState::low);
}

TEST_CASE("an alarm whose limits a reload removes is removed, and cleared first if it was active", "[alarms]") {
    AlarmBench bench;
    bench.record(AlarmState::high, 95.0, 2);
    Settings settings;
    settings.channels.emplace_back().name = "boiler/temp";
    part_of<ProcessingSettings>(settings.channels.back().parts).how.alarm_high = 80.0;
    bench.alarms.retain(settings);
    CHECK(bench.alarms.all().size() == 1);
    part_of<ProcessingSettings>(settings.channels.back().parts).how.alarm_high.reset();
    bench.alarms.retain(settings);
    CHECK(bench.alarms.all().empty());
    CHECK(bench.alarms.state_of("boiler", "temp") == AlarmState::unknown);
    CHECK(bench.lines().back() == "alarm cleared boiler/temp level=high reason=\"its limits were removed\"");
}
