#include "core/publish/slow_bench.hpp"
#include "support/catch.hpp"
#include "support/stream_pair.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// A Subscriber with its own event loop, which reads when the test says so.
struct Stalling {
    Stalling(const Endpoint& endpoint, const SocketOptions& options) : socket(reactor, options), inbox(socket) {
        socket.subscribe("");
        socket.connect(endpoint);
    }
    std::vector<Seen> seen() const {
        std::vector<Seen> stream;
        for (const Frames& frames : inbox.messages) {
            stream.push_back({frames.at(0), frames.at(1)});
        }
        return stream;
    }

    Reactor reactor;
    Subscriber socket;
    Inbox<Subscriber> inbox;
};

}  // namespace

TEST_CASE("a slow subscriber receives gap notices exactly where messages are missing from its stream",
          "[core][publisher][notice]") {
    const auto policy = GENERATE(SlowPolicy::drop_oldest, SlowPolicy::drop_newest);
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    const std::size_t bytes = GENERATE(100U, 1000U, 30'000U);
    SlowBench bench(small_backlog(), transport);
    bench.messages_per_flush = GENERATE(1U, 7U);
    bench.deliver(policy);
    // Through a smaller buffer, what tcp keeps in the kernel may take minutes.
    RawPeer peer = bench.h.subscriber({"t"}, transport == Transport::tcp ? 64 * 1024 : 4096);
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < 100'000 && bench.h.last_status().dropped < 50U * (static_cast<unsigned>(round) + 1); ++i) {
            bench.publish("t", bytes);
        }
        // It reads a little, usually up to the middle of a message.
        peer.read(10'007);
        bench.h.turn();
    }
    const std::vector<Seen> stream = bench.read_all(peer);
    CHECK(bench.first_wrong(stream) == "");
    CHECK(std::any_of(stream.begin(), stream.end(), [](const Seen& seen) { return seen.is_notice(); }));
    CHECK(bench.heard() == bench.lost(LossReason::slow));
    const PeerStatus status = bench.h.last_status();
    CHECK(status.sent == stream.size());
    CHECK(status.matched == stream.size() + status.dropped);
}

TEST_CASE("a subscriber in the middle of a large message gets its rest before the gap notice",
          "[core][publisher][notice]") {
    const auto policy = GENERATE(SlowPolicy::drop_oldest, SlowPolicy::conflate);
    const std::size_t bytes = GENERATE(110'000U, 500'000U);  // several fit a segment
    PublisherOptions options;
    options.segment_bytes = 1024 * 1024;
    options.backlog_bytes_max = 4 * 1024 * 1024;
    SlowBench bench(options);
    bench.h.publisher->set_delivery(bench.h.endpoint, {policy, 4 * 1024 * 1024, 0ms});
    RawPeer peer = bench.h.subscriber({""}, 4096);
    const std::vector<std::string> topics{"a", "b", "c"};
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 80; ++i) {
            bench.publish(topics[bench.next % 3], bytes);
        }
        peer.read(150'000);
        bench.h.turn();
    }
    const std::vector<Seen> stream = bench.read_all(peer);
    if (policy == SlowPolicy::drop_oldest) {
        CHECK(bench.first_wrong(stream) == "");
    }
    const Numbers numbers = learned(stream);
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
    CHECK(bench.h.last_status().sent == stream.size());
    CHECK(bench.h.last_status().dropped > 100);
}

TEST_CASE("messages lost while gap notices are being sent are reported after them", "[core][publisher][notice]") {
    SlowBench bench;
    bench.numbers_per_notice = 1;  // so that the notices take a while
    bench.padding = std::string(1'000, 'x');
    RawPeer peer = bench.h.subscriber({"t"}, 4096);
    bench.publish_until_lost(8'000);
    const std::size_t calls = bench.calls_of_write_notices;
    for (int i = 0; i < 100'000 && bench.calls_of_write_notices == calls; ++i) {
        peer.read(3'001);
        bench.h.turn();
    }
    REQUIRE(bench.is_reporting());  // partly sent
    bench.publish_until_lost(bench.h.last_status().dropped + 500);
    const std::vector<Seen> stream = bench.read_all(peer);
    CHECK(bench.first_wrong(stream) == "");
    CHECK(bench.calls_of_write_notices > calls + 2);
}

TEST_CASE("no notices are requested while a subscriber does not read", "[core][publisher][notice]") {
    SlowBench bench;
    const RawPeer peer = bench.h.subscriber({"t"}, 4096);
    bench.publish_until_lost(100);
    const std::size_t calls = bench.calls_of_write_notices;
    bench.publish_until_lost(5'000);
    CHECK(bench.calls_of_write_notices == calls);
    CHECK(bench.heard() == bench.h.last_status().dropped);
}

TEST_CASE("notices are encrypted like messages, and are sent over inproc too", "[core][publisher][notice]") {
    const bool is_curve = GENERATE(true, false);
    const auto policy = GENERATE(SlowPolicy::drop_oldest, SlowPolicy::drop_newest);
    const CurveKeyPair server = make_curve_key_pair();
    SlowBench bench;
    const Endpoint endpoint =
        is_curve ? bench.h.publisher->bind({Transport::tcp, "127.0.0.1", 0, ""}, CurveServer{server, nullptr})
                 : bench.h.publisher->bind(fresh_endpoint(Transport::inproc, bench.h.scratch.path()));
    bench.h.publisher->set_delivery(endpoint, {policy, 64 * 1024, 0ms});
    SocketOptions options;
    options.receive_buffer_bytes = 4096;
    if (is_curve) {
        options.security = CurveClient{make_curve_key_pair(), server.public_key};
    }
    Stalling subscriber(endpoint, options);
    REQUIRE(bench.h.turn_until([&] {
        subscriber.reactor.poll();
        subscriber.inbox.receive();
        return bench.h.totals().subscriptions == 1;
    }));
    for (int round = 1; round < 4; ++round) {
        bench.publish_until_lost(static_cast<std::uint64_t>(round) * 300);
        subscriber.reactor.poll();
        subscriber.inbox.receive();
        bench.h.turn();
    }
    CHECK(bench.h.turn_until([&] {
        subscriber.reactor.poll();
        subscriber.inbox.receive();
        if (bench.h.last_status().pending > 0 || bench.is_reporting()) {
            return false;
        }
        const PeerStatus status = bench.h.last_status();
        return status.pending == 0 && subscriber.inbox.messages.size() == status.sent;
    }));
    CHECK(bench.first_wrong(subscriber.seen()) == "");
}

TEST_CASE("losses before and after the pending messages are each reported where they are",
          "[core][publisher][notice]") {
    SlowBench bench;
    bench.h.publisher->set_delivery(bench.h.endpoint, {SlowPolicy::drop_newest, 64 * 1024, 1000ms});
    RawPeer peer = bench.h.subscriber({"t"}, 4096);
    for (int i = 0; i < 100'000 && bench.h.last_status().pending < 20; ++i) {
        bench.publish();
    }
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(bench.h.turn_until([&] { return std::chrono::steady_clock::now() - begin > 600ms; }));
    bench.publish_until_lost(100);
    REQUIRE(bench.lost(LossReason::slow) > 0);
    CHECK(bench.h.turn_until([&] { return bench.lost(LossReason::expired) > 0; }));
    REQUIRE(bench.h.last_status().pending > 5);  // newer messages are between the two gaps
    const std::vector<Seen> stream = bench.read_all(peer);
    bench.publish();
    CHECK(bench.first_wrong(bench.read_all(peer)) == "");
}

TEST_CASE("subscribers that keep different parts of the log keep no more than their common limit",
          "[core][publisher][notice]") {
    constexpr std::size_t each = 8 * 1024 * 1024;
    SlowBench bench;
    bench.h.publisher->set_delivery(bench.h.endpoint, {SlowPolicy::drop_newest, each, 0ms});
    std::vector<RawPeer> peers;
    for (int i = 0; i < 14; ++i) {
        peers.push_back(bench.h.subscriber({"t"}, 4096));
        for (int message = 0; message < 300; ++message) {  // until it refuses more
            bench.publish("t", 50'000);
        }
    }
    std::size_t kept = 0;
    for (const PeerStatus& status : bench.h.publisher->subscribers()) {
        kept += status.backlog_bytes;
    }
    CHECK(kept > 5 * each);
    CHECK(kept <= bench.kept_max(each));
    // Subscribers that had to drop what they kept are notified, as of any other loss.
    const std::uint64_t first = bench.h.publisher->subscribers().front().id;
    CHECK(bench.first_wrong(bench.read_all(peers.front(), first)) == "");
}

TEST_CASE("subscribers that do not read messages sent to them alone keep no more than their common limit",
          "[core][publisher][notice]") {
    constexpr std::size_t each = 8 * 1024 * 1024;
    const auto policy = GENERATE(SlowPolicy::drop_oldest, SlowPolicy::block);
    SlowBench bench;
    bench.h.publisher->set_delivery(bench.h.endpoint, {policy, each, 0ms});
    const std::string payload(50'000, 'x');
    std::vector<RawPeer> peers;
    std::size_t most = 0;
    for (int i = 0; i < 30; ++i) {  // the kernel accepts some of what each is sent
        peers.push_back(bench.h.subscriber({"t"}, 4096));
        const std::uint64_t id = bench.h.last_status().id;
        for (int message = 0; message < 300; ++message) {  // nothing is published: the log opens no segment
            bench.h.publisher->send_to(id, "t", payload);
        }
        std::size_t kept = 0;
        for (const PeerStatus& status : bench.h.publisher->subscribers()) {
            kept += status.backlog_bytes;
        }
        most = std::max(most, kept);
        REQUIRE(bench.adds_up());
    }
    CHECK(most > 5 * each);
    CHECK(most <= bench.kept_max(each));
}

TEST_CASE("a policy may change while losses are not reported yet", "[core][publisher][notice]") {
    const auto first = GENERATE(SlowPolicy::drop_oldest, SlowPolicy::drop_newest);
    SlowBench bench;
    bench.deliver(first);
    RawPeer peer = bench.h.subscriber({"t"}, 4096);
    bench.publish_until_lost(100);
    bench.deliver(first == SlowPolicy::drop_oldest ? SlowPolicy::drop_newest : SlowPolicy::drop_oldest);
    bench.publish_until_lost(bench.h.last_status().dropped + 200);
    bench.read_all(peer);
    bench.publish();
    CHECK(bench.first_wrong(bench.read_all(peer)) == "");
}
