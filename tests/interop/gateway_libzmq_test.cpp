#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/scratch_dir.hpp"
#include "support/zmq_subscriber.hpp"

#include <nlohmann/json.hpp>

#include <httplib.h>

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

using SeqsByTopic = std::map<std::string, std::vector<std::uint64_t>>;

std::string settings_text(const ScratchDir& scratch, const std::string& more) {
    return "[rest]\nlisten = 127.0.0.1:0\n"
           "[publish \"tcp\"]\nendpoint = tcp://127.0.0.1:0\n"
           "[publish \"ipc\"]\nendpoint = ipc://" +
           scratch.path("pub.ipc") + "\n" + more;
}

/// Receives as many messages as the gateway has sent, and another one if there is one.
SeqsByTopic receive_all(ZmqSubscriber& subscriber, std::uint64_t sent) {
    SeqsByTopic seqs;
    for (std::uint64_t taken = 0; const auto message = subscriber.receive(taken < sent ? 60'000 : 0); ++taken) {
        if (message->first.ends_with("$gap")) {
            continue;
        }
        seqs[message->first].push_back(nlohmann::json::parse(message->second).at("seq").get<std::uint64_t>());
    }
    return seqs;
}

std::uint64_t count(const SeqsByTopic& seqs) {
    std::uint64_t total = 0;
    for (const auto& [topic, list] : seqs) {
        total += list.size();
    }
    return total;
}

bool contiguous(const std::vector<std::uint64_t>& seqs) {
    for (std::size_t i = 1; i < seqs.size(); ++i) {
        if (seqs[i] != seqs[i - 1] + 1) {
            return false;
        }
    }
    return true;
}

LedgerCounts total(const std::vector<LedgerCounts>& counts) {
    LedgerCounts sum;
    for (const LedgerCounts& entry : counts) {
        sum += entry;
    }
    return sum;
}

}  // namespace

TEST_CASE("a libzmq subscriber receives every sample from the first to the last, over tcp and ipc",
          "[interop][gateway]") {
    const ScratchDir scratch;
    GatewayFixture fixture(settings_text(scratch,
                                         "[device \"host\"]\ndriver = host\ninterval_ms = 20\n"
                                         "[device \"simulated\"]\ndriver = simulated\ninterval_ms = 1\n"));
    ZmqSubscriber subscriber(fixture.endpoint(GENERATE(std::size_t{0}, std::size_t{1})));
    REQUIRE(fixture.wait_for([](const StatusSnapshot& s) { return s.publisher.matched >= 3'000; }));
    REQUIRE(fixture.stop());

    const SeqsByTopic seqs = receive_all(subscriber, fixture.status().publisher.sent);
    fixture.gateway->finish();
    CHECK(seqs.count("simulated/sine") == 1);
    CHECK(seqs.count("host/load.1m") == 1);
    for (const auto& [topic, list] : seqs) {
        CAPTURE(topic);
        CHECK(contiguous(list));
    }
}

TEST_CASE(
    "after a stop, the subscriber has received exactly the samples that the ledger counts as "
    "sent",
    "[interop][gateway]") {
    const ScratchDir scratch;
    GatewayFixture fixture(settings_text(scratch, "[device \"simulated\"]\ndriver = simulated\ninterval_ms = 1\n"));
    ZmqSubscriber subscriber(fixture.endpoint());
    REQUIRE(fixture.wait_for([](const StatusSnapshot& s) { return s.publisher.matched >= 1'000; }));
    REQUIRE(fixture.stop());

    const SeqsByTopic seqs = receive_all(subscriber, fixture.status().publisher.sent);
    const StatusSnapshot end = fixture.status();
    CHECK(count(seqs) == end.publisher.sent);
    CHECK(end.publisher.matched == end.publisher.sent + end.publisher.dropped + end.publisher.pending);
    CHECK(end.publisher.dropped == 0);
    CHECK(end.ledger.at(0).balanced());
    CHECK(end.ledger.at(0).queued == 0);
    CHECK(end.ledger.at(0).published == end.publisher.messages);
}

TEST_CASE(
    "when the queue overflows, the missing samples are exactly those that the ledger counts as "
    "dropped",
    "[interop][gateway]") {
    const ScratchDir scratch;
    const std::string policy = GENERATE("drop_oldest", "drop_newest");
    GatewayFixture fixture("queue_size = 4\n" +
                           settings_text(scratch, "[queue]\npolicy = " + policy +
                                                      "\n[device \"simulated\"]\ndriver = simulated\n"
                                                      "interval_ms = 1\nautostart = no\n"));
    ZmqSubscriber subscriber(fixture.endpoint());
    REQUIRE(fixture.wait_for([](const StatusSnapshot& s) {
        return s.subscribers.size() == 1 && s.subscribers[0].subscriptions_count == 1;
    }));
    REQUIRE(fixture.gateway->command("simulated", DeviceCommand::start).has_value());
    REQUIRE(fixture.wait_for([](const StatusSnapshot& s) { return s.publisher.matched >= 100; }));
    fixture.pause_pump();
    const std::uint64_t dropped_before = total(fixture.status().ledger).dropped_total();
    REQUIRE(fixture.wait_for(
        [&](const StatusSnapshot& s) { return total(s.ledger).dropped_total() >= dropped_before + 500; }));
    fixture.resume_pump();
    REQUIRE(fixture.stop());

    SeqsByTopic seqs = receive_all(subscriber, fixture.status().publisher.sent);
    const StatusSnapshot end = fixture.status();
    for (const ChannelStatus& channel : end.channels) {
        CAPTURE(channel.topic);
        const auto& list = seqs[channel.topic];  // may be empty: a channel can lose all of its samples
        const std::set<std::uint64_t> unique(list.begin(), list.end());
        CHECK(unique.size() == list.size());
        const std::uint64_t received_last = unique.empty() ? 0 : *unique.rbegin();
        const std::uint64_t captured = std::max(received_last, channel.drops[0].last_seq);  // seqs start at 1
        CHECK(captured == unique.size() + channel.drops[0].count);
    }
    const LedgerCounts& counts = end.ledger.at(0);
    CHECK(counts.balanced());
    CHECK(counts.queued == 0);
    CHECK(counts.sampled == count(seqs) + counts.dropped_total());
    CHECK(counts.dropped_total() >= 500);
}

TEST_CASE("the ledger balances at every read while devices, pump, REST and subscribers are active",
          "[interop][gateway]") {
    const ScratchDir scratch;
    GatewayFixture fixture("queue_size = 8\n" +
                           settings_text(scratch,
                                         "[device \"a\"]\ndriver = simulated\ninterval_ms = 1\n"
                                         "burst_probability = 0.1\nburst_samples = 20\n"
                                         "[device \"b\"]\ndriver = simulated\ninterval_ms = 2\n"
                                         "error_probability = 0.2\n[device \"host\"]\ndriver = host\n"
                                         "interval_ms = 10\n"));
    ZmqSubscriber over_tcp(fixture.endpoint(0), "a/");
    ZmqSubscriber over_ipc(fixture.endpoint(1));
    const std::string& address = fixture.gateway->rest_address();
    const int port = std::stoi(address.substr(address.rfind(':') + 1));
    std::atomic<bool> done{false};
    std::atomic<int> reads{0};
    std::thread reader([&] {
        httplib::Client client("127.0.0.1", port);
        while (!done) {
            const auto answer = client.Get("/status");
            if (answer && answer->status == 200 && nlohmann::json::parse(answer->body)["ledger"]["balanced"] == true) {
                ++reads;
            } else {
                reads = -1'000'000;
            }
            (void)client.Post("/devices/b/stop");
            (void)client.Post("/devices/b/start");
        }
    });
    const bool enough = eventually(
        [&] {
            while (over_tcp.receive(0) || over_ipc.receive(0)) {
            }
            return reads.load() >= 50 || reads.load() < 0;
        },
        std::chrono::seconds(60));
    done = true;
    reader.join();
    CHECK(enough);
    CHECK(reads.load() >= 50);
    CHECK(fixture.stop());
}
