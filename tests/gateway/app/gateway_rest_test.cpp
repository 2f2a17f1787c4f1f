#include "gateway/http/raw_http_client.hpp"
#include "rest/rest_routes.hpp"
#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/zmtp_text.hpp"

#include <httplib.h>
#include <nlohmann/json.hpp>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

namespace {

constexpr const char* served_settings = R"(sampling_interval_ms = 2
[rest]
listen = 127.0.0.1:0
[publish "a"]
endpoint = tcp://127.0.0.1:0
[device "d"]
driver = simulated
waveforms = counter, sine
)";

struct Served : GatewayFixture {
    Served() : GatewayFixture(served_settings) {}

    json get(const std::string& path) {
        const auto answer = client.Get(path);
        REQUIRE(answer);
        CHECK(answer->status == 200);
        return json::parse(answer->body);
    }

    httplib::Client client{"127.0.0.1", port_of(gateway->rest_address())};
};

}  // namespace

TEST_CASE("a running gateway shows its channels, last samples and their history", "[gateway][rest]") {
    Served h;
    CHECK(h.get("/channels")["channels"].size() == 2);
    CHECK(eventually([&] { return h.get("/samples/d/counter?since_seq=0")["samples"].size() >= 50; }));
    const json history = h.get("/samples/d/counter?since_seq=10&limit=20");
    std::uint64_t seq = 10;
    for (const json& sample : history["samples"]) {
        CHECK(sample["seq"] == ++seq);
    }
    CHECK(seq == 30);
    CHECK(history["gap"].is_null());
    const json latest = h.get("/samples/latest?prefix=d/counter");
    CHECK(latest["samples"][0]["seq"] >= 50);
}

TEST_CASE("the history contains each published sample once", "[gateway][rest][history]") {
    Served h;
    CHECK(h.wait_for([](const StatusSnapshot& status) { return status.ledger.at(0).published >= 100; }));
    REQUIRE(eventually([&] { return h.client.Post("/stop")->status == 200; }));
    CHECK(eventually([&] {
        const std::uint64_t published = h.status().ledger.at(0).published;
        return h.client.Get("/metrics")
                   ->body.find("\ntelegate_history_written_total " + std::to_string(published) + '\n') !=
               std::string::npos;
    }));
}

TEST_CASE("a subscriber can be closed over REST", "[gateway][rest]") {
    Served h;
    RawHttpClient peer(h.endpoint());
    peer.send(greeting() + ready("SUB") + subscribe(""));
    CHECK(h.wait_for([](const StatusSnapshot& status) { return status.subscribers.size() == 1; }));
    const std::string id = h.get("/subscribers")["subscribers"][0]["id"];
    const auto answer = h.client.Delete("/subscribers/" + id);
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(h.wait_for([](const StatusSnapshot& status) { return status.subscribers.empty(); }));
    CHECK(h.client.Delete("/subscribers/" + id)->status == 404);
}

TEST_CASE("devices, channels, last samples and the log are read without the I/O thread", "[gateway][rest]") {
    Served h;
    REQUIRE(eventually([&] { return !h.get("/samples/latest")["samples"].empty(); }));
    std::promise<void> goes_on;
    h.post_to_io([waits = goes_on.get_future().share()] { waits.wait(); });
    CHECK(h.get("/devices")["devices"][0]["name"] == "d");
    CHECK(h.get("/devices/d")["ledger"]["balanced"] == true);
    CHECK(h.get("/samples/latest")["samples"].size() == 2);
    CHECK(h.get("/channels")["channels"].size() == 2);
    CHECK(h.get("/log")["log"].is_null());
    goes_on.set_value();
}

TEST_CASE("a running gateway is ready, and its ledger balances in the metrics", "[gateway][rest][metrics]") {
    Served h;
    CHECK(h.client.Get("/readyz")->body == "ok\n");
    CHECK(h.client.Get("/metrics")->body.find("\ntelegate_ledger_balanced 1\n") != std::string::npos);
}
