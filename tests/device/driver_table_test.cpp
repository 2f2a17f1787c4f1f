#include "device/driver_row.hpp"

#include "config/settings_table.hpp"
#include "support/catch.hpp"

#include <exception>
#include <string>
#include <vector>

using namespace telegate;

namespace {

/// Returns why no driver can be created for the device, or "".
std::string driver_problem(const DeviceSettings& device) {
    try {
        return find_driver(device.driver).make(device, {}) != nullptr ? "" : "no driver was created";
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("every driver of the settings table can be created, or reports what is missing", "[device][drivers]") {
    for (const std::string_view name : std::get<ChoiceRule>(find_setting("device", "driver")->rule).choices) {
        CAPTURE(name);
        DeviceSettings device;
        device.name = "d";
        device.driver = name;
        CHECK(driver_problem(device).find("unknown driver") == std::string::npos);
    }
}

TEST_CASE("an unknown driver is reported by name", "[device][drivers]") {
    DeviceSettings device;
    device.driver = "nonsense";
    CHECK_THROWS_WITH(find_driver(device.driver), "unknown driver \"nonsense\"");
}

TEST_CASE("a problem of a driver option is reported at the place of its setting", "[device][drivers]") {
    std::vector<SettingsProblem> problems;
    DeviceSettings device;
    device.name = "plc";
    device.driver = "modbus";
    device.place = {"g.ini", 7};
    device.places["data_bits"] = {"g.ini", 9};
    ChannelSettings channel;
    channel.name = "plc/flow";
    channel.place = {"g.ini", 20};
    channel.places["address"] = {"g.ini", 22};
    const std::vector<const ChannelSettings*> channels{&channel};

    add_driver_problem(device, channels, OptionError("data_bits", "7; must be 8"), problems);
    add_driver_problem(device, channels, OptionError("address", "70000; must be 0 to 65535", "flow"), problems);
    add_driver_problem(device, channels, OptionError("unit_id", "300; must be 0 to 255", "flow"), problems);
    add_driver_problem(device, channels, OptionError("registers", "two of a name", "made"), problems);

    REQUIRE(problems.size() == 4);
    CHECK((problems[0].place.line == 9 && problems[0].key == "data_bits" && problems[0].what == "7; must be 8"));
    CHECK(problems[0].setting == "device.plc.data_bits");
    CHECK((problems[1].place.line == 22 && problems[1].key == "address" &&
           problems[1].what == "70000; must be 0 to 65535"));
    CHECK(problems[1].setting == "channel.plc/flow.address");
    CHECK((problems[2].place.line == 20 && problems[2].key == "unit_id"));
    CHECK((problems[3].place.line == 7 && problems[3].key == "registers" && problems[3].what == "two of a name"));
}
