#include "host/temperature_source.hpp"
#include "host_fixture.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;

TEST_CASE("a sensor is named after its chip and label, and is in degrees", "[device][host]") {
    HostFixture host;
    host.sys("class/hwmon/hwmon0/name", "coretemp\n");
    host.sys("class/hwmon/hwmon0/temp1_input", "45500\n");
    host.sys("class/hwmon/hwmon0/temp1_label", "Package id 0\n");
    host.sys("class/hwmon/hwmon0/temp2_input", "-1250\n");
    host.sys("class/hwmon/hwmon0/fan1_input", "900\n");
    host.open();
    host.read();
    CHECK(host.real("temp.coretemp.package_id_0") == Approx(45.5));
    CHECK(host.real("temp.coretemp.temp2") == Approx(-1.25));
    CHECK_FALSE(host.has_channel("temp.coretemp.fan1"));
    CHECK(host.unit("temp.coretemp.temp2") == "Cel");
}

TEST_CASE("a thermal zone is named after its type and number", "[device][host]") {
    HostFixture host;
    host.sys("class/thermal/thermal_zone0/type", "x86_pkg_temp\n");
    host.sys("class/thermal/thermal_zone0/temp", "51000\n");
    host.sys("class/thermal/thermal_zone1/temp", "20000\n");
    host.sys("class/thermal/cooling_device0/type", "Fan\n");
    host.open();
    host.read();
    CHECK(host.real("temp.x86_pkg_temp.zone0") == Approx(51.0));
    CHECK(host.real("temp._.zone1") == Approx(20.0));
}

TEST_CASE("chips of one name are numbered in order, and so are labels within a chip", "[device][host]") {
    HostFixture host;
    for (const char* const chip : {"hwmon2", "hwmon10"}) {
        const std::string stem = std::string("class/hwmon/") + chip + '/';
        host.sys(stem + "name", "nvme\n");
        host.sys(stem + "temp1_label", "Composite\n");
        host.sys(stem + "temp1_input", std::string(chip) == "hwmon2" ? "2000\n" : "10000\n");
    }
    host.sys("class/hwmon/hwmon2/temp2_label", "composite\n");
    host.sys("class/hwmon/hwmon2/temp2_input", "3000\n");
    host.open();
    host.read();
    CHECK(host.real("temp.nvme.composite") == Approx(2.0));
    CHECK(host.real("temp.nvme.composite_2") == Approx(3.0));
    CHECK(host.real("temp.nvme_2.composite") == Approx(10.0));
}

TEST_CASE("long names of chip and label fit in a topic part", "[device][host]") {
    HostFixture host;
    host.sys("class/hwmon/hwmon0/name", std::string(60, 'c') + '\n');
    host.sys("class/hwmon/hwmon0/temp1_input", "1000\n");
    host.sys("class/hwmon/hwmon0/temp1_label", std::string(60, 'x') + "1\n");
    host.sys("class/hwmon/hwmon0/temp2_input", "2000\n");
    host.sys("class/hwmon/hwmon0/temp2_label", std::string(60, 'x') + "2\n");
    host.open();
    host.read();
    const std::string stem = "temp." + std::string(24, 'c') + '.';
    CHECK(host.real(stem + std::string(32, 'x')) == Approx(1.0));
    CHECK(host.real(stem + std::string(30, 'x') + "_2") == Approx(2.0));
}

TEST_CASE("a sensor without a number is absent, and continues when it has one", "[device][host]") {
    HostFixture host;
    host.sys("class/hwmon/hwmon0/name", "chip\n");
    host.sys("class/hwmon/hwmon0/temp1_input", "");
    host.open();
    host.read();
    CHECK(host.is_absent("temp.chip.temp1"));
    host.sys("class/hwmon/hwmon0/temp1_input", "7000\n");
    host.read();
    CHECK(host.real("temp.chip.temp1") == Approx(7.0));
}

TEST_CASE("a machine without sensors has no temperature channels", "[device][host]") {
    HostFixture host;
    host.open();
    const std::size_t channels = host.channels();
    host.sys("class/hwmon/hwmon0/name", "late\n");
    host.sys("class/hwmon/hwmon0/temp1_input", "1000\n");
    host.read_until_reopened();
    CHECK(host.channels() == channels);  // sensors are searched for at the start only
}

TEST_CASE("sensors beyond the limit are counted", "[device][host]") {
    HostFixture host;
    host.sys("class/hwmon/hwmon0/name", "chip\n");
    for (std::size_t number = 1; number <= host::TemperatureSource::sensors_max + 2; ++number) {
        host.sys("class/hwmon/hwmon0/temp" + std::to_string(number) + "_input", "1000\n");
    }
    host.open();
    host.read();
    CHECK(host.integer("temp.left_out") == 2);
    CHECK(host.real("temp.chip.temp64") == Approx(1.0));
    CHECK_FALSE(host.has_channel("temp.chip.temp65"));
}
