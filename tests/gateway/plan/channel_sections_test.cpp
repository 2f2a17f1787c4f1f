#include "plan/channel_sections.hpp"

#include "gateway/plan/plan_problems.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace telegate;
using telegate::test::plan_problems;

namespace {

const std::string simulated_device = "[device \"d\"]\ndriver = simulated\nwaveforms = sine, counter\n";
const std::string modbus =
    "[device \"plc\"]\ndriver = modbus\nendpoint = tcp://127.0.0.1:502\n[channel \"plc/flow.temp\"]\naddress = 1\n";
const std::string host_device = "[device \"h\"]\ndriver = host\n";

std::string section(const std::string& topic, const std::string& keys = "deadband = 1\n") {
    return "[channel \"" + topic + "\"]\n" + keys;
}

std::string only_problem(const std::string& ini) {
    const std::vector<std::string> problems = plan_problems(ini);
    REQUIRE(problems.size() == 1);
    return problems.front();
}

}  // namespace

TEST_CASE("a misspelled channel of a device that knows its channels is refused with the nearest name",
          "[gateway][plan]") {
    CHECK(only_problem(modbus + section("plc/flow.temps", "alarm_high = 10\n")) ==
          "x.ini:6: channel \"plc/flow.temps\": the device has no channel with this name; a channel "
          "that is read needs an address; did you mean \"flow.temp\"?");
    CHECK(only_problem(simulated_device + section("d/sien")) ==
          "x.ini:4: channel \"d/sien\": the device has no channel with this name; did you mean "
          "\"sine\"?");
}

TEST_CASE("if no name is near, the channels of the device are listed", "[gateway][plan]") {
    CHECK(only_problem(simulated_device + section("d/pressure")) ==
          "x.ini:4: channel \"d/pressure\": the device has no channel with this name; its channels "
          "are sine, counter");
    CHECK(only_problem("[device \"d\"]\ndriver = simulated\nwaveforms = sine\ncopies = 12\n" + section("d/pressure"))
              .ends_with("its channels are sine, sine_2, sine_3, sine_4, sine_5, sine_6, sine_7, sine_8 and 4 more"));
}

TEST_CASE("every invalid section is reported", "[gateway][plan]") {
    CHECK(plan_problems(simulated_device + section("d/sien") + section("d/sine") + section("d/countr")).size() == 2);
}

TEST_CASE("a channel that the driver may declare later can have settings", "[gateway][plan]") {
    const auto ini = GENERATE(values<std::string>({
        modbus + section("plc/unit.1.exception"),
        modbus + section("plc/other", "unit_id = 2\naddress = 4\n") + section("plc/unit.2.ok"),
        host_device + section("h/net.usb0.rx_rate"),
        host_device + section("h/disk.sdz.busy"),
        host_device + section("h/temp.coretemp.core_0"),
        host_device + "per_core = yes\n" + section("h/cpu17.busy"),
        host_device + "files = fan=/nowhere/hwmon*/fan1_input\n" + section("h/file.fan.3"),
        "[device \"g\"]\ndriver = serial\nport = /dev/null\nformat = nmea\n" + section("g/gsv.gp.in_view"),
        "[device \"e\"]\ndriver = exec\ncommand = true\nformat = csv\ncolumns = Temp[Cel], flow\n" + section("e/temp"),
        "[device \"i\"]\ndriver = iio\ndevice = adc\nchannels = voltage0\nbuffered = yes\n" + section("i/voltage0.1"),
    }));
    CAPTURE(ini);
    CHECK(plan_problems(ini).empty());
}

TEST_CASE("a channel that no reading can return is refused", "[gateway][plan]") {
    const auto [ini, ending] = GENERATE(table<std::string, std::string>({
        {modbus + section("plc/unit.2.ok"), "needs an address; its channels are flow.temp"},
        {host_device + section("h/net.usb0.rx_rat"), "did you mean \"net.usb0.rx_rate\"?"},
        {host_device + section("h/cpu.bussy"), "did you mean \"cpu.busy\"?"},
        {"[device \"c\"]\ndriver = clock\n" + section("c/clock.eror"), "did you mean \"clock.error\"?"},
        {"[device \"g\"]\ndriver = gateway\n" + section("g/event"), "did you mean \"events\"?"},
        {"[device \"g\"]\ndriver = serial\nport = /dev/null\nformat = nmea\n" + section("g/gga.latitud"),
         "did you mean \"gga.latitude\"?"},
        {"[device \"e\"]\ndriver = exec\ncommand = true\nformat = csv\ncolumns = temp, flow\n" + section("e/flwo"),
         "did you mean \"flow\"?"},
        {"[device \"i\"]\ndriver = iio\ndevice = adc\nchannels = voltage0\n" + section("i/voltag0"),
         "did you mean \"voltage0\"?"},
    }));
    CHECK(only_problem(ini).ends_with(ending));
}

TEST_CASE("any channel of a device that names its channels itself can have settings", "[gateway][plan]") {
    const auto device = GENERATE(values<std::string>({
        "driver = exec\ncommand = true\n",
        "driver = exec\ncommand = true\nformat = json\n",
        "driver = serial\nport = /dev/null\n",
        "driver = udp\n",
        "driver = iio\ndevice = adc\n",
        "driver = replay\npath = /nowhere\n",
    }));
    CHECK(plan_problems("[device \"d\"]\n" + device + section("d/anything")).empty());
}

TEST_CASE("a section of a channel that processing creates is refused, because it has no settings", "[gateway][plan]") {
    const std::string ini = modbus + "alarm_high = 90\nwindow_ms = 1s\naggregates = min, mean\n";
    CHECK(only_problem(ini + section("plc/flow.temp.mean", "alarm_high = 10\n")) ==
          "x.ini:9: channel \"plc/flow.temp.mean\": this channel has no settings of its own: it is "
          "created by the settings of \"plc/flow.temp\"");
    CHECK(only_problem(ini + section("plc/flow.temp.alarm")).find("created by the settings of") != std::string::npos);
    CHECK(only_problem(ini + section("plc/flow.temp.max")).find("has no channel with this name") != std::string::npos);
    const std::string open = "[device \"e\"]\ndriver = exec\ncommand = true\n" + section("e/t", "alarm_high = 1\n");
    CHECK(only_problem(open + section("e/t.alarm", "unit = V\n")).find("created by the settings of") !=
          std::string::npos);
    CHECK(plan_problems(open + section("e/t.mean")).empty());
}
