#include "core/publish/published.hpp"
#include "core/publish/publisher_setups.hpp"
#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t load_payload_bytes = 500;

std::string load_payload_of(int number) {
    return payload_of(number, load_payload_bytes);
}

PublisherOptions small_backlogs_on(std::size_t io_threads) {
    PublisherOptions options = small_backlog();
    options.io_threads = io_threads;
    options.flush_bytes = 16 * 1024;
    options.handshake_time_max = 40ms;  // short deadlines make the publisher check often
    options.heartbeat_interval = 0ms;   // the peers here do not reply, and only messages are expected
    return options;
}

/// The numbers of the messages that a peer has received, complete and intact, whatever their topics.
std::vector<int> numbers_of_all_topics(const RawPeer& peer) {
    REQUIRE(peer.received().starts_with(publisher_hello()));
    std::string_view left = std::string_view(peer.received()).substr(publisher_hello().size());
    std::vector<int> numbers;
    while (!left.empty()) {
        const std::size_t topic_bytes = static_cast<unsigned char>(left.at(1));
        const std::string_view topic = left.substr(2, topic_bytes);
        const std::string_view text = left.substr(2 + topic_bytes + 9);
        int number = -1;
        std::from_chars(text.data(), text.data() + text.size(), number);
        const std::string expected = message(topic, load_payload_of(number));
        REQUIRE(left.substr(0, expected.size()) == expected);
        left.remove_prefix(expected.size());
        numbers.push_back(number);
    }
    return numbers;
}

/// Runs until there is capacity, while the peers read. Returns true if there is capacity in the end.
template <class Peers>
bool wait_for_room(PublisherHarness& h, Peers& peers) {
    return h.publisher->has_room(load_payload_bytes) || h.turn_until([&] {
        for (RawPeer& peer : peers) {
            peer.read();
        }
        return h.publisher->has_room(load_payload_bytes);
    });
}

template <class Peers>
bool all_end_with(PublisherHarness& h, Peers& peers, const std::string& last) {
    return h.turn_until([&] {
        return std::all_of(peers.begin(), peers.end(), [&](RawPeer& peer) { return peer.read().ends_with(last); });
    });
}

}  // namespace

TEST_CASE("a publisher on several threads that checks for capacity loses nothing", "[core][publisher][shards]") {
    const auto [io_threads, transport] = GENERATE(table<std::size_t, Transport>(
        {{2, Transport::tcp}, {4, Transport::tcp}, {2, Transport::ipc}, {4, Transport::ipc}}));
    PublisherHarness h(small_backlogs_on(io_threads), transport);
    std::vector<RawPeer> peers;
    for (int number = 0; number < 6; ++number) {
        peers.push_back(h.subscriber({"t"}, number == 3 ? 4'096 : 0));
    }
    constexpr int count = 5'000;
    for (int number = 0; number < count; ++number) {
        REQUIRE(wait_for_room(h, peers));
        h.publisher->send("t", load_payload_of(number));
    }
    CHECK(all_end_with(h, peers, message("t", load_payload_of(count - 1))));
    for (const RawPeer& peer : peers) {
        const std::vector<int> numbers = numbers_of_all_topics(peer);
        CHECK(numbers.size() == count);
        CHECK(is_strictly_rising(numbers));
    }
    CHECK(h.totals().dropped == 0);
    CHECK(h.turn_until([&] { return h.totals().pending == 0; }));
    CHECK(h.totals().sent == 6 * count);
}

TEST_CASE("a sparse subscription on another thread loses nothing if the publisher checks for capacity",
          "[core][publisher][shards]") {
    PublisherHarness h(small_backlogs_on(2));
    std::vector<RawPeer> peers;
    peers.push_back(h.subscriber({"a"}, 4'096));  // goes to the other thread
    peers.push_back(h.subscriber({""}));
    constexpr int count = 24'000;
    for (int number = 0; number < count; ++number) {
        REQUIRE(wait_for_room(h, peers));
        h.publisher->send(number % 3 == 0 ? "a" : "b", load_payload_of(number));
    }
    CHECK(h.turn_until([&] {
        peers[0].read();
        return peers[1].read().ends_with(message("b", load_payload_of(count - 1))) && h.totals().pending == 0;
    }));
    CHECK(h.totals().dropped == 0);
    CHECK(h.turn_until([&] { return peers[0].read().ends_with(message("a", load_payload_of(count - 3))); }));
    CHECK(numbers_of_all_topics(peers[0]).size() == count / 3);
}

TEST_CASE("messages published at once that fit into the backlog displace nothing that a subscriber could read",
          "[core][publisher][shards]") {
    PublisherHarness h(small_backlogs_on(2));
    RawPeer peer = h.subscriber({"t"});
    const std::string large(1'000'000, 'x');  // larger than the backlog
    h.publisher->send("t", large);
    h.publisher->flush();
    for (int number = 0; number < 50; ++number) {
        h.publisher->send("t", load_payload_of(number));
    }
    const std::string first = publisher_hello() + message("t", large);
    CHECK(h.turn_until([&] { return peer.read().ends_with(message("t", load_payload_of(49))); }));
    CHECK(peer.received().starts_with(first));
    CHECK(h.totals().dropped == 0);
}

TEST_CASE("the reactor wakes up when another thread has capacity again", "[core][publisher][shards]") {
    PublisherHarness h(small_backlogs_on(2));
    RawPeer peer = h.subscriber({"t"}, 4'096);  // the first goes to the other thread
    int number = 0;
    while (h.publisher->has_room(load_payload_bytes)) {
        h.publisher->send("t", load_payload_of(number++));
        h.turn();
    }
    const auto waits = [&] {
        h.turn();
        return !h.publisher->has_room(load_payload_bytes);
    };
    while (eventually([&] { return !waits(); }, 20ms)) {
        h.publisher->send("t", load_payload_of(number++));
    }
    bool has_room = false;
    CHECK(eventually([&] {
        peer.read(64 * 1024);
        // Nothing else here would end this iteration.
        const bool is_woken = h.reactor.run_for(20ms);
        has_room = is_woken && h.publisher->has_room(load_payload_bytes);
        return has_room;
    }));
}

TEST_CASE("threads with capacity do not keep a publisher awake that waits for a subscriber of its own thread",
          "[core][publisher][shards]") {
    PublisherHarness h(small_backlogs_on(2));
    const RawPeer idle = h.subscriber({"u"});  // the first goes to the other thread
    const RawPeer stuck = h.subscriber({"t"}, 4'096);
    int number = 0;
    for (bool has_room = true; has_room; h.turn(), has_room = h.publisher->has_room(load_payload_bytes)) {
        while (h.publisher->has_room(load_payload_bytes)) {
            h.publisher->send("t", load_payload_of(number++));
        }
        h.publisher->flush();
    }
    bool slept = false;
    for (int turns = 0; turns < 100 && !slept; ++turns) {
        REQUIRE_FALSE(h.publisher->has_room(load_payload_bytes));
        slept = !h.reactor.run_for(5ms);  // false: there was nothing to do in all that time
    }
    CHECK(slept);
}

TEST_CASE("a slow subscriber on another thread affects no other, and its losses are counted",
          "[core][publisher][shards]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    PublisherHarness h(small_backlogs_on(2), transport);
    const RawPeer slow = h.subscriber({"t"}, 4'096);
    std::vector<RawPeer> fast;
    for (int number = 0; number < 3; ++number) {  // the second of them is on the same thread
        fast.push_back(h.subscriber({"t"}));
    }
    const auto status_of_slow = [&] {
        return h.publisher->subscribers().front();
    };
    int number = 0;
    std::uint64_t fast_sent = 0;
    while (status_of_slow().dropped < 500 && number < 100'000) {
        for (int burst = 0; burst < 8; ++burst) {
            h.publisher->send("t", load_payload_of(number++));
        }
        fast_sent += 8;
        CHECK(h.turn_until([&] {
            for (RawPeer& peer : fast) {
                peer.read();
            }
            const auto all = h.publisher->subscribers();
            return std::all_of(all.begin() + 1, all.end(), [&](const auto& each) { return each.sent == fast_sent; });
        }));
        REQUIRE(adds_up(h.totals()));
        REQUIRE(adds_up(status_of_slow()));
    }
    CHECK(status_of_slow().dropped >= 500);
    CHECK(status_of_slow().matched == static_cast<std::uint64_t>(number));
    CHECK(status_of_slow().backlog_bytes <= 64 * 1024);
    CHECK(h.turn_until([&] { return h.drops_reported == status_of_slow().dropped; }));
    CHECK(h.count(MonitorEventKind::slow) >= 1);
    CHECK(all_end_with(h, fast, message("t", load_payload_of(number - 1))));
    for (const RawPeer& peer : fast) {
        CHECK(numbers_of_all_topics(peer).size() == static_cast<std::size_t>(number));
    }
    CHECK(h.totals().dropped == status_of_slow().dropped);
}

TEST_CASE("a publisher that does not check for capacity waits for its threads alone, and all losses are counted",
          "[core][publisher][shards]") {
    PublisherHarness h(small_backlogs_on(3));
    std::vector<RawPeer> peers;
    for (int number = 0; number < 5; ++number) {
        peers.push_back(h.subscriber({"t"}));
    }
    constexpr std::uint64_t count = 50'000;
    for (std::uint64_t number = 0; number < count; ++number) {
        h.publisher->send("t", load_payload_of(static_cast<int>(number)));  // the reactor is not running
    }
    CHECK(all_end_with(h, peers, message("t", load_payload_of(count - 1))));
    CHECK(h.turn_until([&] { return h.totals().pending == 0; }));
    CHECK(h.totals().matched == 5 * count);
    CHECK(adds_up(h.totals()));
    for (const PeerStatus& status : h.publisher->subscribers()) {
        RawPeer& peer = peers.at(static_cast<std::size_t>(status.id - 1));
        CHECK(h.turn_until([&] { return peer.read().size() == status.bytes_sent; }));
        const std::vector<int> numbers = numbers_of_all_topics(peer);
        CHECK(is_strictly_rising(numbers));
        CHECK(numbers.size() == status.sent);
        CHECK(status.sent + status.dropped == count);
    }
}

TEST_CASE("peers may connect, change their subscriptions and disconnect while others receive everything",
          "[core][publisher][shards]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    PublisherHarness h(small_backlogs_on(4), transport);
    std::vector<RawPeer> steady;
    for (int number = 0; number < 4; ++number) {
        steady.push_back(h.subscriber({"t"}));
    }
    std::list<RawPeer> others;
    constexpr int count = 6'000;
    for (int number = 0; number < count; ++number) {
        REQUIRE(wait_for_room(h, steady));
        h.publisher->send(number % 3 == 0 ? "t" : "tt", load_payload_of(number));
        if (number % 10 == 0) {
            others.push_back(h.connect());
            others.back().send(greeting() + ready("SUB") + subscribe(number % 20 == 0 ? "t" : "tt"));
        }
        for (RawPeer& other : others) {
            other.read();
        }
        if (number % 10 == 5) {
            others.back().send(cancel("tt") + subscribe("ttt") + subscribe("t"));
        }
        if (others.size() > 8) {
            number % 20 == 0 ? others.front().reset() : others.front().close();
            others.pop_front();
        }
    }
    CHECK(all_end_with(h, steady, message("tt", load_payload_of(count - 1))));
    for (const RawPeer& peer : steady) {
        CHECK(numbers_of_all_topics(peer).size() == count);
    }
    others.clear();
    CHECK(h.turn_until([&] { return h.publisher->subscribers().size() == 4; }));
    CHECK(h.turn_until([&] { return h.totals().subscriptions == 4; }));
    CHECK(adds_up(h.totals()));
}
