#include "status/status_json.hpp"

#include "gateway/status/shown_status.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

TEST_CASE("the status shows the accuracy of the clock and its last step", "[gateway][status]") {
    StatusSnapshot snapshot;
    CHECK(shown(snapshot)["clock"] == json::parse(R"({"synchronized":null,"estimated_error_s":null,
        "maximum_error_s":null,"frequency_ppm":null,"problem":null,"steps":0,"last_step":null,"offset_ns":0})"));
    snapshot.clock.reading.failure = ENOSYS;
    CHECK(shown(snapshot)["clock"]["problem"] == "adjtimex: Function not implemented");
    snapshot.clock.reading.failure = EPERM;
    CHECK(shown(snapshot)["clock"]["problem"] == "adjtimex: Operation not permitted");
    snapshot.clock.reading.sync = ClockSync::unsynchronized;
    snapshot.clock.reading.error_estimated_s = 0.25;
    snapshot.clock.reading.error_maximum_s = 16.0;
    snapshot.clock.reading.frequency_ppm = -1.5;
    snapshot.clock.offset_ns = 1'795'208'872'786'451'789;
    snapshot.clock.steps = 2;
    snapshot.clock.last_step = ClockStep{1'795'216'294'123'456'789, -0.5};
    CHECK(shown(snapshot)["clock"] == json::parse(R"({"synchronized":false,"estimated_error_s":0.25,
        "maximum_error_s":16.0,"frequency_ppm":-1.5,"problem":null,"steps":2,
        "last_step":{"time":"2026-11-20T23:11:34.123456789Z","seconds":-0.5},"offset_ns":1795208872786451789})"));
}
