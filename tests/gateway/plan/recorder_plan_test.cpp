#include "config/load.hpp"
#include "plan/plan.hpp"
#include "support/catch.hpp"

#include <string>

using namespace telegate;

namespace {

constexpr const char* simulated = "driver = simulated\n";

Plan plan_of(const std::string& ini) {
    return make_plan(parse_settings(ini, "t.ini"));
}

std::string recorder_problem(const std::string& ini) {
    try {
        (void)plan_of(ini);
    } catch (const SettingsError& error) {
        REQUIRE(error.problems().size() == 1);
        return error.problems().front().text();
    }
    return "";
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
    CHECK(recorder_problem(std::string("record = a\n[device \"d\"]\nrecord = ./a\n") + simulated)
              .find("uses the same file as") != std::string::npos);
}

TEST_CASE("a log that is being written cannot be replayed at the same time", "[gateway][plan]") {
    CHECK(recorder_problem("[log]\npath = a\n[device \"d\"]\ndriver = replay\nfile = ./a\n")
              .find("\"./a\" is written by log.path") != std::string::npos);
    CHECK(recorder_problem("record = a\n[device \"d\"]\ndriver = replay\nfile = ./a\n")
              .find("t.ini:4: file: \"./a\" is written by gateway.record") != std::string::npos);
}

TEST_CASE("a recording limit below one MiB is a problem, no limit is not", "[gateway][plan]") {
    CHECK(recorder_problem("record_bytes_max = 1000000\n").find("must be 0, or 1048576 or more") != std::string::npos);
    CHECK(recorder_problem("record_bytes_max = 0\n").empty());
}

TEST_CASE("a replay requires a recording", "[gateway][plan]") {
    CHECK_THROWS_WITH(parse_settings("[device \"d\"]\ndriver = replay\n", "t.ini"), Catch::Contains("file"));
}
