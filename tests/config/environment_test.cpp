#include "environment.hpp"
#include "config/problems.hpp"
#include "config/scratch_files.hpp"
#include "config/settings_table.hpp"
#include "support/catch.hpp"
#include "support/driver_settings.hpp"

#include <set>
#include <tuple>
#include <utility>

using namespace telegate;
using telegate::test::has;
using telegate::test::ScratchFiles;

namespace {

const std::string two_devices =
    "[device \"boiler\"]\ndriver = simulated\n[device \"a.b-c\"]\ndriver = simulated\n[publish \"tcp\"]\n"
    "endpoint = tcp://*:0\n";

struct Bench : ScratchFiles {
    LoadedSettings load(const Variables& variables, const std::string& text = two_devices) const {
        return load_settings({.file = write("a.ini", text), .environment = variables});
    }
    std::string problem(const Variables& variables, const std::string& text = two_devices) const {
        return problems({.file = write("a.ini", text), .environment = variables});
    }
};

Settings loaded(const std::vector<std::string>& assignments) {
    return load_settings({.assignments = assignments}).settings;
}

}  // namespace

TEST_CASE("a variable sets a key of a section", "[config][environment]") {
    const LoadedSettings loaded = Bench().load({{"TELEGATE_QUEUE_POLICY", "block"},
                                                {"TELEGATE_REST_LISTEN", "[::1]:0"},
                                                {"TELEGATE_SAMPLING_INTERVAL_MS", "2s"},
                                                {"TELEGATE_GATEWAY_LOG_LEVEL", "off"}});
    CHECK(loaded.settings.queue_policy == "block");
    CHECK(loaded.settings.rest_host == "::1");
    CHECK(loaded.settings.sampling_interval_ms == 2'000);
    CHECK(loaded.settings.log_level == "off");
    CHECK(loaded.warnings.empty());
}

TEST_CASE("a variable sets a key of one of several sections by its name", "[config][environment]") {
    const LoadedSettings loaded = Bench().load({{"TELEGATE_DEVICE_BOILER_INTERVAL_MS", "5"},
                                                {"TELEGATE_DEVICE_A_B_C_INTERVAL_MS", "6"},
                                                {"TELEGATE_PUBLISH_TCP_FORMAT", "cbor"}});
    CHECK(loaded.settings.devices.at(0).interval_ms == 5);
    CHECK(loaded.settings.devices.at(1).interval_ms == 6);
    CHECK(loaded.settings.publish.at(0).format == "cbor");
}

TEST_CASE("a variable can set a key of a section that only --set creates", "[config][environment]") {
    const LoadedSettings loaded = load_settings(
        {.environment = {{"TELEGATE_DEVICE_NEW_AUTOSTART", "no"}}, .assignments = {"device.new.driver=host"}});
    CHECK(test::setting_of(loaded.settings.devices.at(0), "autostart") == "no");
}

TEST_CASE("an ambiguous variable is a problem that names both settings", "[config][environment]") {
    CHECK(Bench().problem({{"TELEGATE_DEVICE_A_B_AUTOSTART", "no"}},
                          "[device \"a.b\"]\ndriver = host\n[device \"a_b\"]\ndriver = host\n") ==
          "env TELEGATE_DEVICE_A_B_AUTOSTART: ambiguous: device.a.b.autostart or device.a_b.autostart; use "
          "--set or a file for these settings");
}

TEST_CASE("two variables for the same setting are a problem", "[config][environment]") {
    CHECK(Bench().problem({{"TELEGATE_LOG_LEVEL", "info"}, {"TELEGATE_GATEWAY_LOG_LEVEL", "info"}}) ==
          "env TELEGATE_LOG_LEVEL: sets the same setting as TELEGATE_GATEWAY_LOG_LEVEL; set only one of the two");
}

TEST_CASE("a variable that ends in _FILE names a file with the value", "[config][environment]") {
    const Bench bench;
    const auto policy = [&](const std::string& content) {
        return bench.load({{"TELEGATE_QUEUE_POLICY_FILE", bench.write("secret", content)}}).settings.queue_policy;
    };
    CHECK(policy("block\n") == "block");
    CHECK(policy("drop_newest") == "drop_newest");
    CHECK(has(bench.problem({{"TELEGATE_QUEUE_POLICY_FILE", bench.write("secret", "block\n\n")}}),
              "env TELEGATE_QUEUE_POLICY_FILE: unknown value: \"block\\x0a\""));
}

TEST_CASE("a value file that cannot be read is a problem", "[config][environment]") {
    const Bench bench;
    CHECK(bench.problem({{"TELEGATE_LOG_LEVEL_FILE", "/nonexistent"}}) ==
          "env TELEGATE_LOG_LEVEL_FILE: cannot read \"/nonexistent\": No such file or directory; must be the path "
          "of a file that contains the value, at most 4096 bytes");
    CHECK(has(bench.problem({{"TELEGATE_LOG_LEVEL_FILE", "/dev/zero"}}),
              "cannot read \"/dev/zero\": not a regular file"));
}

TEST_CASE("a value together with a value file is a problem", "[config][environment]") {
    const Bench bench;
    const std::string secret = bench.write("secret", "info");
    CHECK(bench.problem({{"TELEGATE_LOG_LEVEL", "info"}, {"TELEGATE_LOG_LEVEL_FILE", secret}}) ==
          "env TELEGATE_LOG_LEVEL_FILE: sets the same setting as TELEGATE_LOG_LEVEL; set only one of the two");
}

TEST_CASE("a variable that matches no setting is a warning with the nearest name", "[config][environment]") {
    const LoadedSettings loaded = Bench().load({{"TELEGATE_PORT", "tcp://10.0.0.1:5556"},
                                                {"TELEGATE_QUEUE_POLCY", "block"},
                                                {"TELEGATE_DEVICE_KETTLE_INTERVAL_MS", "5"},
                                                {"TELEGATE_TLS_\x1b[2J", ""}});
    CHECK(loaded.warnings ==
          std::vector<std::string>{"env TELEGATE_DEVICE_KETTLE_INTERVAL_MS: not a setting, ignored; did you "
                                   "mean TELEGATE_DEVICE_BOILER_INTERVAL_MS?",
                                   "env TELEGATE_PORT: not a setting, ignored",
                                   "env TELEGATE_QUEUE_POLCY: not a setting, ignored; did you mean "
                                   "TELEGATE_QUEUE_POLICY?",
                                   "env TELEGATE_TLS_\\x1b[2J: not a setting, ignored"});
}

TEST_CASE(
    "a variable for the settings file gives a hint to --config, and a name that is far from "
    "all others gives none",
    "[config][environment]") {
    const LoadedSettings loaded = Bench().load({{"TELEGATE_CONFIG", "a.ini"}, {"TELEGATE_COLOR", "on"}});
    CHECK(loaded.warnings ==
          std::vector<std::string>{
              "env TELEGATE_COLOR: not a setting, ignored",
              "env TELEGATE_CONFIG: not a setting, ignored; the settings file is named by --config"});
}

TEST_CASE("at most 50 warnings are listed, and the rest are counted", "[config][environment]") {
    Variables variables;
    for (int i = 0; i < 60; ++i) {
        variables.emplace_back("TELEGATE_XYZZY_" + std::to_string(1'000'000 + i), "");
    }
    const LoadedSettings loaded = Bench().load(variables);
    REQUIRE(loaded.warnings.size() == 51);
    CHECK(loaded.warnings.back() == "env: 10 more variables match no setting");
}

TEST_CASE("a setting of another driver is a problem, not a warning", "[config][environment]") {
    CHECK(Bench().problem({{"TELEGATE_DEVICE_BOILER_PER_CORE", "yes"}}) ==
          "env TELEGATE_DEVICE_BOILER_PER_CORE: only valid with the driver host: the driver of this device is "
          "simulated");
}

TEST_CASE("no two settings have the same variable, and no variable is the _FILE form of another",
          "[config][environment]") {
    std::set<std::string> names;
    std::set<std::pair<std::string_view, std::string_view>> keys;  // several drivers may have the same key
    std::size_t flat = 0;
    for (const SettingRow& row : settings_table()) {
        if (!keys.emplace(row.section, row.key).second) {
            continue;
        }
        const bool named = find_section(row.section)->named();
        names.insert(variable_name({std::string(row.section), named ? "x" : "", std::string(row.key)}));
        if (row.section == "gateway") {
            // The flat form, without the section.
            names.insert("TELEGATE_" + variable_name({"", "", std::string(row.key)}).substr(10));
            ++flat;
        }
    }
    CHECK(names.size() == keys.size() + flat);
    for (const std::string& name : names) {
        CHECK_FALSE(names.contains(name + "_FILE"));
    }
}

TEST_CASE("an assignment sets a key of a section, or a key of [gateway] without a section", "[config][set]") {
    CHECK(loaded({"queue.policy=block"}).queue_policy == "block");
    CHECK(loaded({"log_level=off"}).log_level == "off");
    CHECK(loaded({"gateway.sampling_interval_ms=1s"}).sampling_interval_ms == 1'000);
}

TEST_CASE("an assignment creates a section, whose name may contain dots", "[config][set]") {
    const Settings settings = loaded({"device.hall.2.driver=host", "device.hall.2.proc_root=/x=y.z"});
    REQUIRE(settings.devices.size() == 1);
    CHECK(settings.devices[0].name == "hall.2");
    CHECK(test::setting_of(settings.devices[0], "proc_root") == "/x=y.z");
}

TEST_CASE("the last of several assignments applies", "[config][set]") {
    CHECK(loaded({"queue_size=1", "gateway.queue_size=2"}).queue_size == 2);
}

TEST_CASE("an invalid assignment is reported with the reason", "[config][set]") {
    const auto [assignment, problem] = GENERATE(table<std::string, std::string>(
        {{"queue.policy", "not an assignment; must be SECTION.KEY=VALUE or SECTION.NAME.KEY=VALUE"},
         {"=5", "not an assignment; must be SECTION.KEY=VALUE or SECTION.NAME.KEY=VALUE"},
         {"qeue.policy=block", "unknown section: \"qeue\"; did you mean queue?"},
         {".policy=block",
          "unknown section: \"\"; must be one of gateway, sampling, queue, log, logging, rest, tags, publish, "
          "services, uplink, device, channel"},
         {"queue.polcy=block", "not a setting of [queue]; did you mean policy?"},
         {"policy=block", "not a setting of [gateway]; it belongs in [queue]"},
         {"queue.x.policy=block", "unexpected name: [queue] takes no name; must be queue.KEY=VALUE"},
         {"device.interval_ms=5", "no name given for device; must be device.NAME.KEY=VALUE"},
         {"device.A.driver=host", "invalid name: [device \"A\"]; must be 1 to 64 of the characters a-z 0-9 _ . -"},
         {"device.a.autostart=no", "driver: missing in [device \"a\"]; must be " + test::driver_names()},
         {"log_level=a\x1b", "unknown value: \"a\\x1b\"; must be one of trace, debug, info, warn, error, off"}}));
    const std::string shown = assignment == "log_level=a\x1b" ? "log_level=a\\x1b" : assignment;
    CHECK(ScratchFiles().problems({.assignments = {assignment}}) == "--set " + shown + ": " + problem);
}
