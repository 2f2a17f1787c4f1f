#include "gateway/plan/plan_problems.hpp"
#include "support/catch.hpp"

#include <string>

using namespace telegate;
using telegate::test::plan_fault;

namespace {

constexpr const char* simulated = "driver = simulated\n";

Plan plan_of(const std::string& ini) {
    return make_plan(parse_settings(ini, "x.ini"));
}

}  // namespace

TEST_CASE("nothing is recorded by default", "[gateway][plan]") {
    CHECK(plan_of(std::string("[device \"d\"]\n") + simulated).recorders.empty());
}

TEST_CASE("the gateway and devices record to separate directories", "[gateway][plan]") {
    const Plan plan = plan_of(std::string("record = all\nrecord_bytes_max = 2MiB\n") + "[device \"d\"]\nrecord = d\n" +
                              simulated + "[device \"e\"]\n" + simulated);
    REQUIRE(plan.recorders.size() == 2);
    CHECK(plan.recorders[0].path == "all");
    CHECK(plan.recorders[0].device.empty());
    CHECK(plan.recorders[1].path == "d");
    CHECK(plan.recorders[1].device == "d");
    CHECK(plan.recorders[1].limits.bytes_max == 2'097'152);
}

TEST_CASE("two recorders with the same directory are a problem, whatever its spelling", "[gateway][plan]") {
    CHECK(plan_fault(std::string("record = a\n[device \"d\"]\nrecord = ./a\n") + simulated) ==
          "x.ini:3: record: \"./a\" uses the same file as \"a\" in [gateway]: each file can be used only once");
}

TEST_CASE("a log that is being written cannot be replayed at the same time", "[gateway][plan]") {
    const std::string replay = "[device \"d\"]\ndriver = replay\nfile = ./a\n";
    CHECK(plan_fault("[log]\npath = a\n" + replay) ==
          "x.ini:5: file: \"./a\" is written by log.path, so its replay would never end: must be another recording");
    CHECK(plan_fault("record = a\n" + replay) ==
          "x.ini:4: file: \"./a\" is written by gateway.record, so its replay would never end: must be another "
          "recording");
}

TEST_CASE("a recording limit below one MiB is a problem, no limit is not", "[gateway][plan]") {
    CHECK(plan_fault("record_bytes_max = 1000000\n") ==
          "record_bytes_max: \"1000000\" is too small: must be 0, or 1048576 or more");
    CHECK(plan_fault("record_bytes_max = 0\n").empty());
}

TEST_CASE("a replay requires a recording", "[gateway][plan]") {
    CHECK_THROWS_WITH(parse_settings("[device \"d\"]\ndriver = replay\n", "x.ini"), Catch::Contains("file"));
}
