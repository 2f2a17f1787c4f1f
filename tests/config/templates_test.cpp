#include "config/settings_sources.hpp"
#include "problems.hpp"
#include "scratch_files.hpp"

#include "device/common_settings.hpp"
#include "support/catch.hpp"
#include "support/driver_settings.hpp"

#include <string>
#include <vector>

using namespace telegate;
using test::has;
using test::parse;
using test::problem_of;
using test::setting_of;

namespace {

const std::string inverters = R"([device "inverter-%d"]
driver = modbus
instances = 1..3, 7
endpoint = tcp://10.0.0.%d:502
unit_id = %d

[channel "inverter-%d/power"]
address = 40
unit = W
)";

const ChannelSettings& channel_of(const Settings& settings, const std::string& name) {
    for (const ChannelSettings& channel : settings.channels) {
        if (channel.name == name) {
            return channel;
        }
    }
    FAIL("no channel " << name);
    return settings.channels.front();
}

}  // namespace

TEST_CASE("a template becomes a device for each instance, with the number in names and values", "[config][templates]") {
    const Settings settings = parse(inverters);
    std::string shown;
    for (const DeviceSettings& device : settings.devices) {
        shown += device.name + ' ' + setting_of(device, "endpoint") + ' ' + setting_of(device, "unit_id") + '\n';
    }
    CHECK(shown ==
          "inverter-1 tcp://10.0.0.1:502 1\ninverter-2 tcp://10.0.0.2:502 2\n"
          "inverter-3 tcp://10.0.0.3:502 3\ninverter-7 tcp://10.0.0.7:502 7\n");
    REQUIRE(settings.channels.size() == 4);
    CHECK(setting_of(channel_of(settings, "inverter-7/power"), "modbus", "address") == "40");
    CHECK(processing_of(channel_of(settings, "inverter-7/power")).unit == "W");
}

TEST_CASE("in a template, %%d is the text %d", "[config][templates]") {
    const Settings settings = parse("[device \"d%d\"]\ndriver = exec\ninstances = 4\ncommand = /bin/date +%%d %d 5%\n");
    REQUIRE(settings.devices.size() == 1);
    CHECK(setting_of(settings.devices[0], "command") == "/bin/date +%d 4 5%");
    const Settings plain = parse("[device \"d\"]\ndriver = exec\ncommand = /bin/date +%d\n");
    CHECK(setting_of(plain.devices[0], "command") == "/bin/date +%d");
}

TEST_CASE("a separate section overrides the template for one instance", "[config][templates]") {
    const Settings settings =
        parse("[device \"inverter-2\"]\nunit_id = 99\n\n[channel \"inverter-2/power\"]\nunit = kW\n\n" + inverters);
    CHECK(settings.devices.size() == 4);
    CHECK(settings.devices[1].name == "inverter-2");
    CHECK(setting_of(settings.devices[1], "unit_id") == "99");
    CHECK(setting_of(settings.devices[1], "endpoint") == "tcp://10.0.0.2:502");
    CHECK(processing_of(channel_of(settings, "inverter-2/power")).unit == "kW");
    CHECK(setting_of(channel_of(settings, "inverter-2/power"), "modbus", "address") == "40");
    CHECK(processing_of(channel_of(settings, "inverter-1/power")).unit == "W");
}

TEST_CASE("later sources can change a template, its instances and a single instance", "[config][templates]") {
    const test::ScratchFiles files;
    const std::string file = files.write("a.ini", inverters);
    files.write("conf.d/b.ini", "[device \"inverter-%d\"]\ninstances = 2, 3\ntimeout_ms = 70\n");
    const LoadedSettings loaded =
        load_settings({.file = file,
                       .environment = {{"TELEGATE_DEVICE_INVERTER_2_PAUSE_MS", "5"}},
                       .assignments = {"device.inverter-3.timeout_ms=80", "device.inverter-%d.read_gap_max=3"}});
    REQUIRE(loaded.settings.devices.size() == 2);
    const DeviceSettings& second = loaded.settings.devices[0];
    CHECK(setting_of(second, "timeout_ms") == "70");
    CHECK(setting_of(second, "pause_ms") == "5");
    CHECK(setting_of(second, "read_gap_max") == "3");
    const DeviceSettings& third = loaded.settings.devices[1];
    CHECK(setting_of(third, "timeout_ms") == "80");
    CHECK(setting_of(third, "read_gap_max") == "3");
    CHECK(files.origin(loaded, {"device", "inverter-2", "endpoint"}) == "a.ini:4");
    CHECK(files.origin(loaded, {"device", "inverter-2", "timeout_ms"}) == "conf.d/b.ini:3");
    CHECK(files.origin(loaded, {"channel", "inverter-2/power", "unit"}) == "a.ini:9");
}

TEST_CASE("a mistake in a template is one problem, regardless of the number of instances", "[config][templates]") {
    CHECK(has(problem_of(inverters + "table = coils\n"), "t.ini:10: table: unknown value: \"coils\""));
    CHECK_FALSE(has(problem_of(inverters + "table = coils\n"), "\n"));
    CHECK(problem_of("[device \"d%d\"]\ninstances = 1..20\n") ==
          "t.ini:1: driver: missing in [device \"d%d\"]; must be " + test::driver_names());
    CHECK(problem_of(inverters + inverters.substr(inverters.find("\n[channel"))) ==
          "t.ini:11: duplicate: [channel \"inverter-%d/power\"] (first defined on line 7)");
}

TEST_CASE("invalid instances are refused with what is allowed", "[config][templates]") {
    const std::string text =
        GENERATE(as<std::string>(), "", "x", "3..1", "1..", "..3", "1,,2", "1..3, 2", "-1", "65536", "1..257", "1-5");
    CAPTURE(text);
    const std::string problem = problem_of("[device \"d%d\"]\ndriver = simulated\ninstances = " + text +
                                           "\n[channel \"d%d/sine\"]\nunit = V\n");
    CHECK(problem ==
          "t.ini:3: instances: not a list of instances: \"" + text +
              "\"; must be whole numbers and ranges from 0 to 65535, separated by commas, each number once, at most "
              "256 in total, such as 1..20");
}

TEST_CASE("a name with %d needs instances, and instances need a name with %d", "[config][templates]") {
    CHECK(problem_of("[device \"d%d\"]\ndriver = simulated\n") ==
          "t.ini:1: missing instances: [device \"d%d\"] has %d in its name; must have a setting such as instances = "
          "1..20");
    CHECK(problem_of("[channel \"d%d/sine\"]\nunit = V\n") ==
          "t.ini:1: missing instances: [channel \"d%d/sine\"] has %d in its name, but no [device \"d%d\"] has "
          "instances");
    CHECK(problem_of("[device \"d\"]\ndriver = simulated\ninstances = 1..3\n") ==
          "t.ini:3: instances: no %d in the device name: [device \"d\"]; must be like "
          "[device \"inverter-%d\"]");
    CHECK(has(problem_of("[device \"d%d\"]\ndriver = simulated\ninstances = 1\ninstances = 2\n"),
              "t.ini:4: instances: duplicate (first defined on line 3)"));
}

TEST_CASE("templates that become too large are refused", "[config][templates]") {
    std::string text = "[device \"d%d\"]\ndriver = simulated\ninstances = 0..255\n";
    for (int i = 0; i < 1'000; ++i) {
        text += "[channel \"d%d/c" + std::to_string(i) + "\"]\nunit = V\n";
    }
    const std::vector<std::string> problems = test::problems_of(text);
    REQUIRE_FALSE(problems.empty());
    bool is_told = false;
    for (const std::string& problem : problems) {
        is_told =
            is_told || (has(problem, "templates too large: ") && has(problem, "; must be at most 16777216 bytes"));
    }
    CHECK(is_told);
}
