#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"

#include <array>

using namespace telegate;
using namespace telegate::test;

TEST_CASE("a sample that vanishes from the queue makes the ledger disagree", "[gateway][ledger]") {
    GatewayFixture fixture(
        "queue_size = 1000\n[rest]\nlisten = 127.0.0.1:0\n[device \"simulated\"]\ndriver = simulated\ninterval_ms = "
        "1\n");
    CHECK(fixture.status().queue_agrees);
    fixture.pause_pump();
    // More than the sampler can hold at the moment of a snapshot.
    std::array<TelemetrySample, 400> stolen;
    std::size_t taken = 0;
    while (taken < stolen.size()) {
        taken += fixture.steal(std::span(stolen).subspan(taken));
    }
    CHECK(fixture.status().ledger.at(0).balanced());
    CHECK_FALSE(fixture.status().queue_agrees);
}

TEST_CASE("while the queue fills and overflows every snapshot agrees with the ledger", "[gateway][ledger]") {
    GatewayFixture fixture(
        "queue_size = 50\n[rest]\nlisten = 127.0.0.1:0\n[device \"simulated\"]\ndriver = simulated\ninterval_ms = 1\n");
    fixture.pause_pump();
    CHECK(fixture.wait_for([](const StatusSnapshot& s) {
        CHECK(s.queue_agrees);
        return s.ledger.at(0).dropped_total() > 500;
    }));
}
