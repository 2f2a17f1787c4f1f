#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/rounds.hpp"

#include <zmq.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// A libzmq SUB socket with small buffers, so that it stalls when nothing is read from it.
class StallingSubscriber {
  public:
    StallingSubscriber(const std::string& endpoint, const std::string& prefix)
        : context_(zmq_ctx_new()), socket_(zmq_socket(context_, ZMQ_SUB)) {
        set(ZMQ_RCVHWM, 1);
        set(ZMQ_RCVBUF, 4096);
        set(ZMQ_LINGER, 0);
        zmq_setsockopt(socket_, ZMQ_SUBSCRIBE, prefix.data(), prefix.size());
        REQUIRE(zmq_connect(socket_, endpoint.c_str()) == 0);
    }
    ~StallingSubscriber() {
        zmq_close(socket_);
        zmq_ctx_term(context_);
    }
    StallingSubscriber(const StallingSubscriber&) = delete;
    StallingSubscriber& operator=(const StallingSubscriber&) = delete;

    std::optional<std::pair<std::string, std::string>> receive(int wait_ms) {
        set(ZMQ_RCVTIMEO, wait_ms);
        auto topic = receive_frame();
        return topic ? std::optional(std::pair(*topic, receive_frame().value())) : std::nullopt;
    }

  private:
    void set(int option, int value) { zmq_setsockopt(socket_, option, &value, sizeof value); }
    std::optional<std::string> receive_frame() {
        zmq_msg_t message;
        zmq_msg_init(&message);
        std::optional<std::string> result;
        if (zmq_msg_recv(&message, socket_, 0) >= 0) {
            result.emplace(static_cast<const char*>(zmq_msg_data(&message)), zmq_msg_size(&message));
        }
        zmq_msg_close(&message);
        return result;
    }

    void* context_;
    void* socket_;
};

/// Receives messages and tracks the next seq of each channel. Fails at once if a loss is not reported or reported
/// twice.
struct InOrder {
    void take(const std::string& topic, const std::string& payload) {
        const auto json = nlohmann::json::parse(payload);
        const bool is_gap = topic.ends_with("$gap");
        const std::string channel = is_gap ? topic.substr(0, topic.size() - 4) : topic;
        const auto first = json.at(is_gap ? "first_seq" : "seq").get<std::uint64_t>();
        const auto last = json.at(is_gap ? "last_seq" : "seq").get<std::uint64_t>();
        const auto [known, is_new] = next.try_emplace(channel, first);
        CAPTURE(topic, payload);
        REQUIRE(known->second == first);
        REQUIRE(last >= first);
        known->second = last + 1;
        gaps += is_gap ? 1U : 0U;
        missed += is_gap ? last - first + 1 : 0;
        samples += is_gap ? 0U : 1U;
        if (is_gap) {
            REQUIRE(json.at("reason") == "slow");
        }
    }

    /// Returns whether the last published seq of each channel was received or reported as missing.
    bool has_all(const std::vector<ChannelStatus>& channels) const {
        return std::all_of(channels.begin(), channels.end(), [this](const ChannelStatus& channel) {
            const auto known = next.find(channel.topic);
            return known != next.end() && known->second == channel.last.seq + 1;
        });
    }

    std::map<std::string, std::uint64_t> next;
    std::uint64_t gaps = 0;
    std::uint64_t missed = 0;
    std::uint64_t samples = 0;
};

std::uint64_t lost(const StatusSnapshot& status, LossReason reason) {
    return status.subscribers.empty() ? 0 : status.subscribers.front().losses[static_cast<std::size_t>(reason)].count;
}

}  // namespace

TEST_CASE("a stalled libzmq subscriber is notified exactly of the samples that it missed", "[interop][gateway][slow]") {
    const std::string policy = GENERATE("drop_oldest", "drop_newest");
    GatewayFixture g(
        "queue_size = 100000\n[rest]\nlisten = 127.0.0.1:0\n"
        "[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\nbacklog_bytes = 65536\npolicy = " +
        policy + "\n[device \"sim\"]\ndriver = simulated\ninterval_us = 200\n");
    StallingSubscriber subscriber(g.endpoint(), "sim/");
    REQUIRE(g.wait_for([](const StatusSnapshot& status) { return lost(status, LossReason::slow) > 2'000; }));
    InOrder reader;
    for (int i = 0; i < rounds(30'000); ++i) {  // a few while publishing continues
        if (const auto message = subscriber.receive(1'000)) {
            reader.take(message->first, message->second);
        }
    }
    REQUIRE(g.gateway->command("sim", DeviceCommand::stop));
    StatusSnapshot status;
    CHECK(eventually([&] {
        while (const auto message = subscriber.receive(10)) {
            reader.take(message->first, message->second);
        }
        status = g.status();
        return status.devices.front().state == DeviceState::idle && status.ledger.front().queued == 0 &&
               reader.has_all(status.channels);
    }));
    CHECK(reader.gaps > 0);
    CHECK(reader.missed == lost(status, LossReason::slow));
    CHECK(reader.samples + reader.gaps == status.subscribers.front().sent);
    const auto& [first, last] = status.subscribers.front().lost[static_cast<std::size_t>(LossReason::slow)];
    CHECK(first.topic.starts_with("sim/"));
    CHECK(first.seq > 0);
    CHECK(last.seq >= first.seq);
}

TEST_CASE("a new libzmq subscription gets the last values first, then each sample once without gaps",
          "[interop][gateway][slow]") {
    GatewayFixture g(
        "[rest]\nlisten = 127.0.0.1:0\n[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\nlast_value = yes\n"
        "[device \"sim\"]\ndriver = simulated\ninterval_us = 500\n[device \"slow\"]\ndriver = simulated\n"
        "interval_ms = 3600000\n");
    REQUIRE(g.wait_for([](const StatusSnapshot& status) { return status.channels.size() == 12; }));
    for (int round = 0; round < 5; ++round) {
        StallingSubscriber subscriber(g.endpoint(), "");
        InOrder reader;
        for (int i = 0; i < 500; ++i) {
            const auto message = subscriber.receive(60'000);
            REQUIRE(message);
            reader.take(message->first, message->second);
        }
        CHECK(reader.next.size() == 12);  // including those of the slow device, which has no new samples
        CHECK(reader.gaps == 0);
    }
}

TEST_CASE("a blocking subscriber blocks publishing, but not the gateway, and loses nothing",
          "[interop][gateway][slow]") {
    GatewayFixture g(
        "queue_size = 1000\n[rest]\nlisten = 127.0.0.1:0\n"
        "[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\nbacklog_bytes = 65536\npolicy = block\n"
        "[device \"sim\"]\ndriver = simulated\ninterval_us = 200\n");
    StallingSubscriber subscriber(g.endpoint(), "sim/");
    REQUIRE(g.wait_for([](const StatusSnapshot& status) {
        return !status.subscribers.empty() && status.subscribers.front().blocking &&
               status.ledger.front().dropped[static_cast<std::size_t>(DropReason::queue_overflow)] > 0;
    }));
    CHECK(g.gateway->health().checks.at(2).good);  // the pump is not considered hung
    constexpr std::uint64_t wanted = rounds(30'000U);
    std::uint64_t got = 0;
    while (got < wanted && subscriber.receive(60'000)) {
        ++got;
    }
    CHECK(got == wanted);
    CHECK(g.status().subscribers.front().dropped == 0);
    REQUIRE(g.wait_for([](const StatusSnapshot& status) { return status.subscribers.front().blocking; }));
    CHECK(g.stop());
}
