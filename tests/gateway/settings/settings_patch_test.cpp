#include "settings/settings_json.hpp"

#include "config/load.hpp"
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

TEST_CASE("a merge patch leaves other settings as they are, even bytes that are not UTF-8", "[gateway][json]") {
    const Settings base = parse_settings("record = /tmp/a\xff\n", "t.ini");
    CHECK(settings_from_patch(base, R"({"gateway":{"queue_size":9}})").record.path == base.record.path);
}
