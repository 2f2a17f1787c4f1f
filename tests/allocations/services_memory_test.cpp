#include "memory_rounds.hpp"
#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/raw_peer.hpp"
#include "support/zmtp_text.hpp"

#include <string>
#include <variant>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr const char* quiet_gateway = R"(sampling_interval_ms = 3600000
[publish "p"]
endpoint = tcp://127.0.0.1:0
[services "s"]
endpoint = tcp://127.0.0.1:0
[device "d"]
driver = simulated
waveforms = counter
)";

std::string request_frame(const std::string& service, int id) {
    return frame(0, R"({"service":)" + service + R"(,"id":)" + std::to_string(id) + "}");
}

/// Always has the same identity, so that anything that the gateway wrongly keeps of one connection affects the next.
std::string first_request(const std::string& service) {
    return greeting() + ready("DEALER", "somebody with a long name") + request_frame(service, 7);
}

bool has_answer(RawPeer& peer, int id) {
    return peer.read().find("\"id\":" + std::to_string(id)) != std::string::npos;
}

}  // namespace

TEST_CASE("a service still replies to the next request after one that exhausted memory", "[services][allocations]") {
    const SparedThread spared;
    const std::string service =
        GENERATE(R"("ping")", R"("status")", R"("catalog")", R"("snapshot")", R"("replay","position":0)");
    CAPTURE(service);
    GatewayFixture fixture(quiet_gateway);
    REQUIRE(fixture.wait_for([](const StatusSnapshot& status) { return status.ledger.at(0).published > 0; }));
    const auto endpoint = std::get<Endpoint>(parse_endpoint(fixture.gateway->service_urls().at(0)));
    const auto attempt = [&] {
        RawPeer peer(endpoint);
        peer.send(first_request(service));
        CHECK(eventually([&] {
            peer.send(request_frame(R"("ping")", 8));
            return has_answer(peer, 8) || peer.at_end();
        }));
    };
    const auto works = [&] {
        RawPeer peer(endpoint);
        peer.send(first_request(service));
        CHECK(eventually([&] { return has_answer(peer, 7); }));
    };
    fail_each_allocation(1, attempt, works);  // the reserve covers only one failure
    CHECK(fixture.wait_for([](const StatusSnapshot& status) {
        return status.services.peers == 0 && status.services.replays_active == 0;
    }));
    CHECK(fixture.stop());
}
