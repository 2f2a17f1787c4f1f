#include "config/load.hpp"
#include "core/endpoint.hpp"
#include "devices/fleet.hpp"
#include "devices/silent_peer.hpp"
#include "support/catch.hpp"
#include "support/driver_settings.hpp"
#include "support/eventually.hpp"
#include "support/raw_peer.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::perf;
using namespace telegate::test;

namespace {

/// A device as in /status. Its 99th percentile and maximum are ten and a hundred times the median, `late_us`.
std::string device_json(const std::string& name, const std::string& late_us, const std::string& counts) {
    return R"({"name":")" + name + R"(","lateness_s":{"p50":)" + late_us + R"(e-6,"p99":)" + late_us + R"(e-5,"max":)" +
           late_us + R"(e-4},)" + counts + "}";
}

std::string status_json(const std::string& devices) {
    return R"({"sampler":{"devices":[)" + devices +
           R"(]},"ledger":{"total":{"dropped":{"queue_overflow":5,"shutdown":2}}},"transport":{"dropped":9}})";
}

}  // namespace

TEST_CASE("the gateway accepts the settings of a fleet", "[tools][devices]") {
    Fleet fleet;
    fleet.devices = 3;
    fleet.channels = 4;
    fleet.rate = 40;
    const Settings settings = parse_settings(fleet_settings(fleet, 2, 1502), "fleet.ini");
    REQUIRE(settings.devices.size() == 5);
    const DeviceSettings& healthy = settings.devices.front();
    CHECK(healthy.driver == "simulated");
    CHECK(healthy.interval_us == 25'000);
    CHECK(healthy.align == "spread");
    CHECK(test::setting_of(healthy, "waveforms") == "noise");
    CHECK(test::setting_of(healthy, "copies") == "4");
    const DeviceSettings& hung = settings.devices.back();
    CHECK(hung.driver == "modbus");
    CHECK(test::setting_of(hung, "endpoint") == "tcp://127.0.0.1:1502");
    CHECK(test::setting_of(hung, "timeout_ms") == std::to_string(hung_timeout_ms));
    CHECK(hung.interval_ms == hung_interval_ms);
    CHECK(hung.breaker_failures == 0);
    CHECK(settings.channels.size() == 2);
}

TEST_CASE("the gateway accepts the largest fleet", "[tools][devices]") {
    Fleet fleet;
    fleet.devices = 255;
    fleet.channels = 100;
    fleet.rate = 0.1;
    fleet.align = "start";
    CHECK_NOTHROW(parse_settings(fleet_settings(fleet, 1, 1), "fleet.ini"));
}

TEST_CASE("the queue holds two readings of a whole fleet", "[tools][devices]") {
    CHECK(Fleet{1, 1}.queue_size() == 1'024);
    CHECK(Fleet{200, 20}.queue_size() == 8'000);
}

TEST_CASE("lateness is computed from the devices that respond", "[tools][devices]") {
    const std::string none = R"("ticks_missed":0,"reads_failed":0)";
    const FleetStatus status =
        read_fleet_status(status_json(device_json("healthy-1", "10", R"("ticks_missed":3,"reads_failed":0)") + "," +
                                      device_json("healthy-2", "30", R"("ticks_missed":4,"reads_failed":1)") + "," +
                                      device_json("healthy-3", "20", none) + "," +
                                      device_json("hung-1", "9000", R"("ticks_missed":90,"reads_failed":80)")));
    CHECK(status.devices == 3);
    CHECK(status.late_p50_us == Approx(20));
    CHECK(status.late_p99_us == Approx(200));
    CHECK(status.late_p99_worst_us == Approx(300));
    CHECK(status.late_max_us == Approx(3'000));
    CHECK(status.ticks_missed == 7);
    CHECK(status.reads_failed == 1);
    CHECK(status.samples_lost == 7);
    CHECK(status.messages_lost == 9);
}

TEST_CASE("a status without the expected fields is not a result", "[tools][devices]") {
    CHECK_THROWS_WITH(read_fleet_status(status_json("")), Catch::Contains("no device responds"));
    CHECK_THROWS_WITH(read_fleet_status("{}"), Catch::Contains("sampler"));
    CHECK_THROWS_AS(read_fleet_status("<html>"), std::runtime_error);
}

TEST_CASE("a silent peer accepts connections and sends nothing", "[tools][devices]") {
    const SilentPeer silent;
    const Endpoint endpoint{Transport::tcp, "127.0.0.1", silent.port(), ""};
    std::vector<RawPeer> peers;
    peers.emplace_back(endpoint);
    peers.emplace_back(endpoint);
    for (RawPeer& peer : peers) {
        CHECK(peer.send("anybody there?"));
    }
    CHECK(eventually([&] { return silent.accepted() == 2; }));
    peers.front().close();
    peers.emplace_back(endpoint);
    CHECK(eventually([&] { return silent.accepted() == 3; }));
    CHECK(peers.at(1).read().empty());
    CHECK_FALSE(peers.at(1).at_end());
}

TEST_CASE("a silent peer accepts new connections after others disconnect", "[tools][devices]") {
    const SilentPeer silent;
    const Endpoint endpoint{Transport::tcp, "127.0.0.1", silent.port(), ""};
    for (std::size_t peer = 1; peer <= SilentPeer::connections_max + 1; ++peer) {
        RawPeer(endpoint).close();
        REQUIRE(eventually([&] { return silent.accepted() == peer; }));
    }
}
