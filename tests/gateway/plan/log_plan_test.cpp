#include "gateway/plan/plan_problems.hpp"
#include "support/catch.hpp"

#include <string>

using namespace telegate;
using telegate::test::plan_fault;

namespace {

Plan plan_of(const std::string& ini) {
    return make_plan(parse_settings(ini, "x.ini"));
}

}  // namespace

TEST_CASE("a log that is being written cannot be replayed at the same time", "[gateway][plan]") {
    CHECK(plan_fault("[log]\npath = a\n[device \"d\"]\ndriver = replay\npath = ./a\n") ==
          "x.ini:5: path: \"./a\" is the log of this gateway, so its replay would never end: must be another log");
}

TEST_CASE("a limit of the log below one MiB is a problem, no limit is not", "[gateway][plan]") {
    CHECK(plan_fault("[log]\nbytes_max = 1000000\n") ==
          "x.ini:2: bytes_max: \"1000000\" is too small: must be 0, or 1048576 or more");
    CHECK(plan_fault("[log]\nbytes_max = 0\n").empty());
}

TEST_CASE("a log of a device that does not exist is a problem", "[gateway][plan]") {
    const std::string devices = "[device \"plc-1\"]\ndriver = simulated\n[log]\ndevices = ";
    CHECK(plan_of(devices + "plc-1\n").log.devices == std::vector<std::string>{"plc-1"});
    CHECK(plan_fault(devices + "plc*, *\n").empty());
    CHECK(plan_fault(devices + "plc-1, plc\n") ==
          "x.ini:4: devices: unknown device \"plc\": must be the name of a device, or the beginning of one and *");
}

TEST_CASE("a replay requires a log", "[gateway][plan]") {
    CHECK_THROWS_WITH(parse_settings("[device \"d\"]\ndriver = replay\n", "x.ini"), Catch::Contains("path"));
}
