#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/scratch_dir.hpp"

#include <string>

using namespace telegate;
using namespace telegate::test;

// A gateway without subscribers, whose status nobody requests: a request would empty the queue.

TEST_CASE("the last samples of a device that stops, is removed or becomes slow reach the log without a subscriber",
          "[gateway][log]") {
    const int how = GENERATE(0, 1, 2);
    const ScratchDir dir;
    const std::string head =
        "[rest]\nlisten = 127.0.0.1:0\n[log]\npath = " + dir.path("log") + "\nfree_bytes_min = 0\n";
    const auto settings = [&](const std::string& devices) {
        return parse_settings(head + devices, "t.ini");
    };
    const std::string device = "[device \"sim\"]\ndriver = simulated\ninterval_ms = ";
    GatewayFixture fixture(settings(device + "20\n"));
    const auto counts = [&] {
        return fixture.ledger().cut(1).at(0);
    };
    CHECK(eventually([&] { return counts().published > 0; }));
    if (how == 0) {
        REQUIRE(fixture.gateway->command("sim", DeviceCommand::stop));
    } else {
        const ReloadReport report = fixture.change_to(settings(how == 1 ? "" : device + "3600000\n"));
        REQUIRE(report.outcome == ReloadOutcome::applied);
    }
    CHECK(eventually([&] { return counts().queued == 0; }));
    CHECK(eventually([&] { return fixture.log_status().log.samples == counts().published; }));
    CHECK(counts().published == counts().sampled);
}
