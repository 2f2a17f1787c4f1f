#include "plan/plan_sections.hpp"

#include "gateway/plan/plan_problems.hpp"
#include "live/settings_applier.hpp"
#include "plan/plan.hpp"
#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using telegate::test::plan_problems;
using namespace std::chrono_literals;

namespace {

const std::string device_section = "[device \"d\"]\ndriver = simulated\n[channel \"d/sine\"]\n";

Settings settings_of(const std::string& keys) {
    return parse_settings(device_section + keys, "x.ini");
}

ChannelProcessing processing_of(const std::string& keys) {
    const Plan plan = make_plan(settings_of(keys));
    return plan.devices.at(0).processing.channels.at("sine");
}

}  // namespace

TEST_CASE("a channel without settings is not processed", "[gateway][plan]") {
    CHECK(make_plan(settings_of("scale = 1\ndeadband = 0\n")).devices.at(0).processing.channels.empty());
}

TEST_CASE("a channel with only a unit is in the plan and has no stages", "[gateway][plan]") {
    const ChannelProcessing how = processing_of("unit = kPa\n");
    CHECK(how.unit == "kPa");
    CHECK_FALSE(how.has_stages());
}

TEST_CASE("decimals and texts of a channel are stages", "[gateway][plan]") {
    CHECK(processing_of("decimals = 0\n").decimals == 0);
    const ChannelProcessing how = processing_of("texts = 1:on, -1 : not known, 0:a:b\n");
    CHECK(how.has_stages());
    std::string shown;
    for (const ValueText& each : how.texts) {
        shown += std::to_string(each.value) + '=' + each.text + ';';
    }
    CHECK(shown == "-1=not known;0=a:b;1=on;");
}

TEST_CASE("invalid texts are refused", "[gateway][plan]") {
    const auto [keys, what] = GENERATE(table<std::string, std::string>({
        {"texts = off\n", "texts: \"off\" is not a value with a text: must be VALUE:TEXT, "},
        {"texts = 0:\n", "texts: \"0:\" is not a value with a text"},
        {"texts = 1.5:x\n", "texts: \"1.5:x\" is not a value with a text"},
        {"texts = 0:123456789012345678901234567890123\n", "is not a value with a text"},
        {"texts = 0:a, 0:b\n", "texts: \"0\" has more than one text: must have one"},
        {"texts = 0:a\nderive = rate\n", "texts: cannot be used with derive"},
        {"texts = 0:a\nwindow_ms = 1s\n", "texts: cannot be used with window_ms"},
    }));
    CAPTURE(keys);
    const std::vector<std::string> problems = plan_problems(device_section + keys);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].find(what) != std::string::npos);
}

TEST_CASE("settings of a channel become its processing", "[gateway][plan]") {
    const ChannelProcessing how = processing_of(
        "scale = 0.5\noffset = -40\nvalid_min = -20\nvalid_max = 60.5\nout_of_range = drop\ndeadband = 0.25\n"
        "deadband_percent = 2\nsend_interval_max_ms = 1min\nsend_interval_min_ms = 500\n"
        "derive = counter_rate\nwindow_ms = 10s\naggregates = count, mean\nwindow_raw = yes\n"
        "alarm_high = 50\nalarm_low = -10\nalarm_hysteresis = 1.5\nalarm_delay_ms = 2s\n"
        "alarm_clear_delay_ms = 3s\n");
    CHECK(how.scale == 0.5);
    CHECK(how.offset == -40.0);
    CHECK(how.valid_min == -20.0);
    CHECK(how.valid_max == 60.5);
    CHECK(how.out_of_range == OutOfRange::drop);
    CHECK(how.deadband == 0.25);
    CHECK(how.deadband_percent == 2.0);
    CHECK(how.send_interval_max == 60s);
    CHECK(how.send_interval_min == 500ms);
    CHECK(how.derive == Derive::counter_rate);
    CHECK(how.window == 10s);
    CHECK(how.aggregates == std::vector{Aggregate::mean, Aggregate::count});
    CHECK(how.window_raw);
    CHECK(how.alarm_high == 50.0);
    CHECK(how.alarm_low == -10.0);
    CHECK(how.alarm_hysteresis == 1.5);
    CHECK(how.alarm_delay == 2s);
    CHECK(how.alarm_clear_delay == 3s);
}

TEST_CASE("a conflict between settings of a channel is a problem with its line", "[gateway][plan]") {
    const auto [keys, problem] = GENERATE(table<std::string, std::string>({
        {"scale = 0\n", "x.ini:4: scale: "},
        {"valid_min = 5\nvalid_max = 5\n", "x.ini:4: valid_min: \"5\" is too large"},
        {"out_of_range = drop\n", "x.ini:4: out_of_range: "},
        {"send_interval_max_ms = 1s\n", "x.ini:4: send_interval_max_ms: "},
        {"deadband = 1\nsend_interval_min_ms = 2s\nsend_interval_max_ms = 1s\n",
         "x.ini:6: send_interval_max_ms: \"1000\""},
        {"window_raw = yes\n", "x.ini:4: window_raw: "},
        {"alarm_hysteresis = 1\n", "x.ini:4: alarm_hysteresis: "},
        {"alarm_delay_ms = 1\n", "x.ini:4: alarm_delay_ms: "},
        {"alarm_clear_delay_ms = 1\n", "x.ini:4: alarm_clear_delay_ms: "},
        {"alarm_high = 1\nalarm_low = 1\n", "x.ini:5: alarm_low: \"1\" is too large"},
        {"alarm_high = 1\nalarm_low = 0\nalarm_hysteresis = 1.5\n", "x.ini:6: alarm_hysteresis: \"1.5\""},
    }));
    const auto problems = plan_problems(device_section + keys);
    CAPTURE(keys);
    REQUIRE(problems.size() == 1);
    CAPTURE(problems[0]);
    CHECK(problems[0].starts_with(problem));
}

TEST_CASE("a name that is too long for derived channels is a problem if they are configured", "[gateway][plan]") {
    const auto problems_with = [](const std::string& name, const std::string& key) {
        return plan_problems("[device \"d\"]\ndriver = exec\ncommand = true\n[channel \"d/" + name + "\"]\n" + key +
                             " = 1\n")
            .size();
    };
    CHECK(problems_with(std::string(58, 'x'), "alarm_high") == 0);
    CHECK(problems_with(std::string(59, 'x'), "alarm_high") == 1);
    CHECK(problems_with(std::string(59, 'x'), "window_ms") == 1);
    CHECK(problems_with(std::string(59, 'x'), "deadband") == 0);
}

TEST_CASE("a change of a channel's processing requires a new driver, with that processing", "[gateway][plan]") {
    const Settings from = settings_of("deadband = 1\n");
    const Settings to = settings_of("deadband = 2\n");
    PlannedChange change = plan_change(from, to, diff(from, to));
    REQUIRE(change.devices.set.size() == 1);
    CHECK(change.devices.set[0].processing.channels.at("sine").deadband == 2.0);
}
