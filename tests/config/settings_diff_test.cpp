#include "config/settings_diff.hpp"

#include "config/load.hpp"
#include "support/catch.hpp"

using namespace telegate;

namespace {

/// Formats each change as "key kind from -> to applies".
std::vector<std::string> change_texts(const std::string& from, const std::string& to) {
    std::vector<std::string> result;
    for (const SettingChange& change : diff(parse_settings(from, "a.ini"), parse_settings(to, "b.ini"))) {
        const bool is_value = change.kind == SettingChange::Kind::changed;
        result.push_back(key_text(change) + (is_value ? " " + change.from + " -> " + change.to : "") + " " +
                         std::string(to_string(change.kind)) + " " + std::string(to_string(change.applies)));
    }
    return result;
}

using Texts = std::vector<std::string>;

constexpr const char* boiler_and_pump =
    "[device \"boiler\"]\ndriver = simulated\ninterval_ms = 100\n[device \"pump\"]\ndriver = simulated\n";

}  // namespace

TEST_CASE("equal settings have no differences, regardless of the order of sections", "[config][diff]") {
    CHECK(change_texts(boiler_and_pump, boiler_and_pump).empty());
    CHECK(change_texts(
              boiler_and_pump,
              "\n\n[device \"pump\"]\ndriver = simulated\n[device \"boiler\"]\ninterval_ms = 100\ndriver = simulated\n")
              .empty());
    CHECK(change_texts("queue_size = 0\n", "").empty());
}

TEST_CASE("a changed value is reported with both values", "[config][diff]") {
    CHECK(change_texts("queue_size = 5\n[queue]\npolicy = block\n", "log_level = debug\n") ==
          Texts{"gateway.queue_size 5 -> auto changed live", "gateway.log_level info -> debug changed live",
                "queue.policy block -> drop_oldest changed live"});
    CHECK(change_texts(boiler_and_pump,
                       "[device \"boiler\"]\ndriver = simulated\ninterval_ms = 50\nwaveforms = sine, ramp\n"
                       "[device \"pump\"]\ndriver = simulated\n") ==
          Texts{"device.boiler.interval_ms 100 -> 50 changed live",
                "device.boiler.waveforms sine, ramp, square, random_walk, noise, counter -> sine, ramp changed live"});
}

TEST_CASE("a setting that needs a restart is reported as such", "[config][diff]") {
    CHECK(change_texts("", "[sampling]\nrealtime_priority = 5\ncpu_affinity = 0, 1\n[rest]\nlisten = 127.0.0.1:1\n") ==
          Texts{"sampling.realtime_priority 0 -> 5 changed restart", "sampling.cpu_affinity  -> 0, 1 changed restart",
                "rest.listen 127.0.0.1:8080 -> 127.0.0.1:1 changed restart"});
}

TEST_CASE("an added, removed or renamed section is reported as a whole", "[config][diff]") {
    CHECK(change_texts("[publish \"a\"]\nendpoint = tcp://*:1\n", "[publish \"b\"]\nendpoint = tcp://*:1\n") ==
          Texts{"publish.a removed live", "publish.b added live"});
    CHECK(change_texts(boiler_and_pump, "[device \"fan\"]\ndriver = host\n[device \"pump\"]\ndriver = simulated\n") ==
          Texts{"device.boiler removed live", "device.fan added live"});
}

TEST_CASE("if the driver of a device changes, only settings of all drivers are compared", "[config][diff]") {
    CHECK(change_texts("[device \"a\"]\ndriver = simulated\nseed = 5\nautostart = no\n",
                       "[device \"a\"]\ndriver = host\n") ==
          Texts{"device.a.driver simulated -> host changed live", "device.a.autostart no -> yes changed live"});
}

TEST_CASE("settings without those that need a restart keep the values in force of these", "[config][diff]") {
    const Settings in_force = parse_settings("[rest]\nlisten = 127.0.0.1:1\n[log]\npath = /a\n", "a.ini");
    const Settings wanted = parse_settings(
        "queue_size = 5\n[log]\npath = /b\nage_max = 1h\n" + std::string(boiler_and_pump) + "[tags]\nsite = a\n",
        "b.ini");
    const Settings applied = without_restarts(in_force, wanted);
    CHECK(applied.rest_port == 1);
    CHECK(applied.log.path == "/a");
    CHECK(applied.log.age_max_ms == 3'600'000);
    for (const SettingChange& change : diff(in_force, applied)) {
        CHECK(change.applies != Applies::restart);
    }
    for (const SettingChange& change : diff(applied, wanted)) {
        CHECK(change.applies == Applies::restart);
    }
}
