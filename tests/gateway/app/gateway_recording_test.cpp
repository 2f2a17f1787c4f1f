#include "gateway/recording/recorder_harness.hpp"
#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"

#include <map>
#include <string>
#include <tuple>

using namespace telegate;
using namespace telegate::test;

namespace {

// sequence number, and bits of the value
using Seen = std::vector<std::tuple<std::uint64_t, Quality, ValueType, std::int64_t>>;

/// By channel without its device; the samples of a channel are in order.
std::map<std::string, Seen> seen_in(const ReadRecordings& read) {
    std::map<std::string, Seen> seen;
    for (const auto& [topic, sample] : read.samples) {
        seen[topic.substr(topic.find('/') + 1)].emplace_back(sample.seq, sample.quality, sample.type,
                                                             sample.value.integer);
    }
    return seen;
}

struct RecordedGateway {
    /// Runs a gateway until `device` has recorded this many samples.
    ReadRecordings run(const std::string& device, const std::string& name, std::uint64_t count) {
        {
            GatewayFixture gateway("record = " + dir.path(name) + "\n[rest]\nlisten = 127.0.0.1:0\n" + device);
            CHECK(gateway.wait_for(
                [&](const StatusSnapshot& status) { return status.recorders.at(0).log.samples >= count; }));
            CHECK(gateway.stop());
            gateway.gateway->finish();
        }
        return ReadRecordings(dir.path(name));
    }
    ReadRecordings replay(const std::string& name, std::uint64_t count, const std::string& how) {
        return run("[device \"again\"]\ndriver = replay\nsource = sim\nfile = " + dir.path("first") + '\n' + how, name,
                   count);
    }

    const ScratchDir dir;
};

}  // namespace

TEST_CASE("a recording of published samples replays as the same samples", "[gateway][recorder]") {
    RecordedGateway gateways;
    const ReadRecordings first = gateways.run(
        "[device \"sim\"]\ndriver = simulated\ninterval_ms = 2\nstuck_probability = 0.1\nstuck_time_ms = 10\n", "first",
        200);
    REQUIRE(first.samples.size() >= 200);
    CHECK(first.gaps.empty());
    CHECK(first.stops == 1);
    const auto expected = seen_in(first);
    const std::uint64_t count = first.samples.size();
    CHECK(seen_in(gateways.replay("timed", count, "speed = 100\n")) == expected);
    CHECK(seen_in(gateways.replay("stepped", count, "mode = stepped\ninterval_ms = 1\n")) == expected);
}

TEST_CASE("recordings start and end while the gateway runs", "[gateway][recorder]") {
    const ScratchDir dir;
    const std::string ini = "[rest]\nlisten = 127.0.0.1:0\n[device \"sim\"]\ndriver = simulated\ninterval_ms = 2\n";
    std::string now = ini;
    ReloadSource source;
    source.load = [&] {
        return LoadedSettings{parse_settings(now, "t.ini"), {}};
    };
    GatewayFixture gateway(parse_settings(ini, "t.ini"), source);
    CHECK(gateway.status().recorders.empty());
    const std::uint64_t reads = gateway.status().devices.at(0).reads;
    now = ini + "record = " + dir.path("sim") + '\n';
    CHECK(gateway.gateway->live_settings().reload("test").outcome == ReloadOutcome::applied);
    CHECK(gateway.wait_for([](const StatusSnapshot& status) { return status.recorders.at(0).log.samples > 0; }));
    CHECK(gateway.status().devices.at(0).reads > reads);
    now = ini;
    CHECK(gateway.gateway->live_settings().reload("test").outcome == ReloadOutcome::applied);
    CHECK(gateway.status().recorders.empty());
    CHECK(ReadRecordings(dir.path("sim")).stops == 1);
}
