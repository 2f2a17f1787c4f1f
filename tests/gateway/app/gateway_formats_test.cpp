#include "encode/record_encoder.hpp"
#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/socket_harness.hpp"

#include <nlohmann/json.hpp>

#include <cstring>
#include <map>
#include <string>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

namespace {

constexpr const char* three_formats =
    "[rest]\nlisten = 127.0.0.1:0\n"
    "[publish \"numbers\"]\nendpoint = tcp://127.0.0.1:0\nformat = record\n"
    "[publish \"web\"]\nendpoint = tcp://127.0.0.1:0\n"
    "[publish \"small\"]\nendpoint = tcp://127.0.0.1:0\nformat = cbor\n"
    "[device \"simulated\"]\ndriver = simulated\ninterval_ms = 1\nwaveforms = sine, counter\n";
constexpr std::size_t record_endpoint = 0;
constexpr std::size_t json_endpoint = 1;
constexpr std::size_t cbor_endpoint = 2;

/// A subscriber to everything at one endpoint, in the test's thread.
struct Listener {
    explicit Listener(const Endpoint& endpoint) {
        subscriber.subscribe("");
        subscriber.connect(endpoint);
    }
    /// Returns payloads of the topic, at least this many.
    std::vector<std::string> payloads(const std::string& topic, std::size_t count) {
        std::vector<std::string> result;
        const bool came = bench.turn_until([&] {
            inbox.receive();
            result.clear();
            for (const Frames& message : inbox.messages) {
                if (message.at(0) == topic) {
                    result.push_back(message.at(1));
                }
            }
            return result.size() >= count;
        });
        CHECK(came);
        return result;
    }

    /// Reads until the gateway closes the connection.
    bool reads_to_the_end() {
        return bench.turn_until([&] {
            inbox.receive();
            return subscriber.peers().empty();
        });
    }

    Bench bench;
    Subscriber subscriber{bench.reactor, SocketOptions()};
    Inbox<Subscriber> inbox{subscriber};
};

using BySeq = std::map<std::uint64_t, json>;

BySeq by_seq(const std::vector<json>& documents) {
    BySeq result;
    for (const json& document : documents) {
        result[document.at("seq").get<std::uint64_t>()] = document;
    }
    return result;
}

std::vector<Record> records_of(const std::vector<std::string>& payloads) {
    std::vector<Record> records;
    for (const std::string& payload : payloads) {
        REQUIRE(payload.size() % sizeof(Record) == 0);
        for (std::size_t at = 0; at < payload.size(); at += sizeof(Record)) {
            std::memcpy(&records.emplace_back(), payload.data() + at, sizeof(Record));
        }
    }
    return records;
}

}  // namespace

TEST_CASE("each endpoint has its own format, and all publish the same samples", "[gateway][formats]") {
    GatewayFixture fixture(three_formats);
    Listener as_json(fixture.gateway->endpoints().at(json_endpoint));
    Listener as_cbor(fixture.gateway->endpoints().at(cbor_endpoint));
    Listener as_record(fixture.gateway->endpoints().at(record_endpoint));
    (void)as_json.payloads("simulated/sine", 1);
    (void)as_cbor.payloads("simulated/sine", 1);
    const std::vector<Record> records = records_of(as_record.payloads("simulated/sine", 200));
    std::vector<json> documents;
    for (const std::string& payload : as_json.payloads("simulated/sine", 200)) {
        documents.push_back(json::parse(payload));
    }
    const BySeq parsed = by_seq(documents);
    std::size_t same = 0;
    for (const std::string& payload : as_cbor.payloads("simulated/sine", 200)) {
        const json decoded = json::from_cbor(payload);
        const auto twin = parsed.find(decoded.at("seq").get<std::uint64_t>());
        if (twin != parsed.end()) {
            REQUIRE(twin->second == decoded);
            ++same;
        }
    }
    CHECK(same > 50);
    same = 0;
    for (const Record& record : records) {
        const auto twin = parsed.find(record.seq);
        if (twin != parsed.end()) {
            double value = 0;
            std::memcpy(&value, record.value.data(), sizeof value);
            REQUIRE(twin->second.at("value") == value);
            REQUIRE(twin->second.at("epoch") == record.epoch_ms);
            ++same;
        }
    }
    CHECK(same > 50);
}

TEST_CASE("tags from the settings are in the json and cbor payloads", "[gateway][formats]") {
    GatewayFixture fixture(std::string(three_formats) + "[tags]\nsite = north\nline = 3\n");
    Listener as_json(fixture.gateway->endpoints().at(json_endpoint));
    Listener as_cbor(fixture.gateway->endpoints().at(cbor_endpoint));
    const json tags{{"site", "north"}, {"line", "3"}};
    CHECK(json::parse(as_json.payloads("simulated/sine", 1).at(0)).at("tags") == tags);
    CHECK(json::from_cbor(as_cbor.payloads("simulated/sine", 1).at(0)).at("tags") == tags);
}

TEST_CASE("the status shows the format of endpoints and subscribers, and totals of each format", "[gateway][formats]") {
    GatewayFixture fixture(three_formats);
    Listener as_cbor(fixture.gateway->endpoints().at(cbor_endpoint));
    Listener as_json(fixture.gateway->endpoints().at(json_endpoint));
    (void)as_cbor.payloads("simulated/sine", 20);
    (void)as_json.payloads("simulated/sine", 20);
    const StatusSnapshot status = fixture.status();
    REQUIRE(status.endpoints.size() == 3);
    CHECK(status.endpoints[record_endpoint].format == PayloadFormat::record);
    CHECK(status.endpoints[json_endpoint].format == PayloadFormat::json);
    CHECK(status.endpoints[cbor_endpoint].format == PayloadFormat::cbor);
    REQUIRE(status.subscribers.size() == 2);
    std::uint64_t matched = 0;
    for (const SubscriberStatus& subscriber : status.subscribers) {
        const bool is_cbor = subscriber.format == PayloadFormat::cbor;
        CHECK(subscriber.endpoint == status.endpoints[is_cbor ? cbor_endpoint : json_endpoint].endpoint);
        CHECK(subscriber.matched == subscriber.sent + subscriber.dropped + subscriber.pending);
        matched += subscriber.matched;
    }
    CHECK(status.publisher.matched == matched);
    CHECK(status.publisher.connections_accepted == 2);
    CHECK(status.ledger.at(0).balanced());
}

TEST_CASE("a sample counts as published once, and a message once per format", "[gateway][formats]") {
    GatewayFixture fixture(
        "[rest]\nlisten = 127.0.0.1:0\n[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n"
        "[publish \"b\"]\nendpoint = tcp://127.0.0.1:0\nformat = cbor\n"
        "[publish \"c\"]\nendpoint = tcp://127.0.0.1:0\n"
        "[device \"simulated\"]\ndriver = simulated\ninterval_ms = 1\n");
    REQUIRE(fixture.wait_for([](const StatusSnapshot& s) { return s.ledger.at(0).published > 100; }));
    const StatusSnapshot status = fixture.status();
    CHECK(status.publisher.messages == 2 * status.ledger.at(0).published);
}

TEST_CASE("a stop waits for the subscribers of every format", "[gateway][formats]") {
    GatewayFixture fixture(three_formats);
    Listener as_record(fixture.gateway->endpoints().at(record_endpoint));
    Listener as_cbor(fixture.gateway->endpoints().at(cbor_endpoint));
    (void)as_record.payloads("simulated/counter", 5);
    (void)as_cbor.payloads("simulated/counter", 5);
    fixture.gateway->begin_stop();
    CHECK(as_record.reads_to_the_end());
    CHECK(as_cbor.reads_to_the_end());
    CHECK(fixture.stop());
    const std::uint64_t last = fixture.last_pumped(ChannelId{1});
    CHECK(records_of(as_record.payloads("simulated/counter", 1)).back().seq == last);
    CHECK(json::from_cbor(as_cbor.payloads("simulated/counter", 1).back()).at("seq") == last);
}

TEST_CASE("a gateway without endpoints runs and stops", "[gateway][formats]") {
    GatewayFixture fixture(
        "[rest]\nlisten = 127.0.0.1:0\n[device \"simulated\"]\ndriver = simulated\ninterval_ms = 1\n");
    REQUIRE(fixture.wait_for([](const StatusSnapshot& s) { return s.ledger.at(0).published > 10; }));
    CHECK(fixture.status().endpoints.empty());
    CHECK(fixture.stop());
}
