#include "settings/settings_json.hpp"

#include "config/load.hpp"
#include "plan/plan.hpp"
#include "support/catch.hpp"

using namespace telegate;

TEST_CASE("a merge patch replaces members, and null restores the default", "[gateway][json]") {
    const Settings base = parse_settings(
        "queue_size = 7\nheartbeat_ms = 50\n[device \"d\"]\ndriver = host\n"
        "interval_ms = 20\n[device \"e\"]\ndriver = host\n",
        "t.ini");
    const Settings patched =
        settings_from_patch(base, R"({"gateway":{"queue_size":9,"heartbeat_ms":null},"device":{"e":null,)"
                                  R"("d":{"interval_ms":30},"f":{"driver":"clock"}}})");
    CHECK(patched.queue_size == 9);
    CHECK(patched.heartbeat_ms == Settings().heartbeat_ms);
    REQUIRE(patched.devices.size() == 2);
    CHECK(patched.devices[0].interval_ms == 30);
    CHECK(patched.devices[1].driver == "clock");
    CHECK(settings_hash(settings_from_patch(base, "{}")) == settings_hash(base));
    CHECK_THROWS_AS(settings_from_patch(base, "[]"), SettingsError);
    CHECK_THROWS_AS(settings_from_patch(base, R"({"gateway":{"queue_size":1,"queue_size":2}})"), SettingsError);
}

TEST_CASE("a merge patch leaves other settings as they are", "[gateway][json]") {
    const Settings base = parse_settings("state_file = /tmp/\xc3\xa4\n", "t.ini");
    CHECK(settings_from_patch(base, R"({"gateway":{"queue_size":9}})").state_file == base.state_file);
}

TEST_CASE("problems of a plan name the settings that were sent by their JSON pointers", "[gateway][json]") {
    const auto [sent, pointer] = GENERATE(table<std::string, std::string>({
        {R"({"log":{"path":"l","bytes_max":5}})", "/log/bytes_max"},
        {R"({"log":{"devices":["a"]}})", "/log/devices"},
        {R"({"publish":{"q.r":{"endpoint":"tcp://1.2.3:1"}}})", "/publish/q.r/endpoint"},
        {R"({"device":{"a":{"driver":"simulated","offset_ms":999999}}})", "/device/a/offset_ms"},
        {R"({"device":{"a":{"driver":"simulated"}},"channel":{"a/x.y":{"decimals":1}}})", "/channel/a~1x.y"},
    }));
    CAPTURE(sent);
    try {
        (void)make_plan(settings_from_json(sent));
        FAIL("no problem was found");
    } catch (const SettingsError& error) {
        const auto problems = with_json_pointers(error.problems());
        REQUIRE(problems.size() == 1);
        CHECK(problems[0].key == pointer);
    }
}
