#include "app/system_limits.hpp"

#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/scheduling.hpp"

#include <string>
#include <system_error>
#include <utility>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

ScheduleGrant grant_of(ThreadSchedule wanted, ThreadSchedule in_force) {
    return {std::move(wanted), std::move(in_force), {}, {}};
}

std::vector<std::string> refusal_texts(const ScheduleGrant& grant) {
    std::vector<std::string> texts;
    for (const LogLine& line : schedule_refusals(grant)) {
        texts.push_back(line.text());
    }
    return texts;
}

}  // namespace

TEST_CASE("a schedule in force causes no warning", "[gateway][schedule]") {
    CHECK(schedule_refusals({}).empty());
    CHECK(schedule_refusals(grant_of({50, {1, 0}}, {50, {0, 1}})).empty());
}

TEST_CASE("a refused priority is reported with the reason and a remedy", "[gateway][schedule]") {
    ScheduleGrant grant = grant_of({50, {}}, {});
    grant.priority_refused = std::make_error_code(std::errc::operation_not_permitted);
    CHECK(refusal_texts(grant) ==
          std::vector<std::string>{"cannot apply sampling thread setting realtime_priority=50 "
                                   "reason=\"Operation not permitted\" "
                                   "remedy=\"grant CAP_SYS_NICE or set LimitRTPRIO to 50 or more\""});
}

TEST_CASE("refused processors are reported, all or some", "[gateway][schedule]") {
    const std::string remedy = "remedy=\"name online processors that this process may run on\"";
    ScheduleGrant none = grant_of({0, {2, 3}}, {});
    none.processors_refused = std::make_error_code(std::errc::invalid_argument);
    CHECK(refusal_texts(none) == std::vector<std::string>{"cannot apply sampling thread setting cpu_affinity=2,3 "
                                                          "reason=\"Invalid argument\" " +
                                                          remedy});
    CHECK(refusal_texts(grant_of({0, {0, 3}}, {0, {0}})) ==
          std::vector<std::string>{"cannot apply sampling thread setting cpu_affinity=0,3 "
                                   "reason=\"only 0 granted\" " +
                                   remedy});
}

TEST_CASE("without permission for its priority a gateway runs without it, and its status shows that",
          "[gateway][schedule]") {
    without_nice([] {
        GatewayFixture fixture(
            "[rest]\nlisten = 127.0.0.1:0\n[sampling]\nrealtime_priority = 1\n"
            "[device \"simulated\"]\ndriver = simulated\ninterval_us = 500\n");
        CHECK(fixture.status().sampling_schedule.realtime_priority == 0);
        CHECK(fixture.wait_for([](const StatusSnapshot& status) { return status.devices.at(0).reads > 10; }));
        CHECK(fixture.stop());
    });
}

TEST_CASE("the status of a gateway shows the processors of its sampling thread", "[gateway][schedule]") {
    const unsigned processor = first_processor();
    GatewayFixture fixture("[rest]\nlisten = 127.0.0.1:0\n[sampling]\ncpu_affinity = " + std::to_string(processor));
    CHECK(fixture.status().sampling_schedule.processors == std::vector<unsigned>{processor});
}
