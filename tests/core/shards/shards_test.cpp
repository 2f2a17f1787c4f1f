#include "shards/shards.hpp"
#include "core/publish/publisher_setups.hpp"
#include "core/subscriber.hpp"
#include "peers/peer_table.hpp"
#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

#include <dirent.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

/// Returns the number of threads of this process whose names start with `begin`.
std::size_t threads_named(std::string_view begin) {
    std::size_t count = 0;
    DIR* const tasks = ::opendir("/proc/self/task");
    while (const dirent* const task = ::readdir(tasks)) {
        std::ifstream file(std::string("/proc/self/task/") + task->d_name + "/comm");
        std::string name;
        std::getline(file, name);
        count += name.starts_with(begin) ? 1U : 0U;
    }
    ::closedir(tasks);
    return count;
}

/// A harness with subscribers to everything.
struct Crowd : PublisherHarness {
    Crowd(std::size_t io_threads, std::size_t count, Transport transport = Transport::tcp)
        : PublisherHarness(on_threads(io_threads), transport) {
        for (std::size_t number = 0; number < count; ++number) {
            peers.push_back(subscriber({""}));
        }
    }
    /// Returns true if every subscriber receives exactly this.
    bool all_get(const std::string& expected) {
        return turn_until([&] {
            return std::all_of(peers.begin(), peers.end(),
                               [&](RawPeer& peer) { return peer.read() == publisher_hello() + expected; });
        });
    }

    std::vector<RawPeer> peers;
};

}  // namespace

TEST_CASE("a publisher has its own named threads as long as it exists", "[core][publisher][shards]") {
    {
        PublisherHarness h(on_threads(3));
        CHECK(eventually([] { return threads_named("tg-io-2") == 1 && threads_named("tg-io-3") == 1; }));
        CHECK(threads_named("tg-io-") == 2);
    }
    CHECK(eventually([] { return threads_named("tg-io-") == 0; }));
    const PublisherHarness alone;
    CHECK(threads_named("tg-io-") == 0);
}

TEST_CASE("a single message reaches the subscribers of all threads at once", "[core][publisher][shards]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    Crowd h(4, 8, transport);
    h.publisher->send("t", "x");
    CHECK(h.all_get(message("t", "x")));
    CHECK(h.turn_until([&] { return h.totals().sent == 8; }));
    CHECK(h.totals().matched == 8);
    CHECK(h.totals().subscriptions == 8);
}

TEST_CASE("connections go to the thread with the fewest", "[core][publisher][shards]") {
    Reactor reactor;
    PublisherOptions options = on_threads(4);
    PeerTable peers(reactor, options, {}, {});
    const RemoteSessions& remote = peers.remote();
    const auto nothing = [](auto&&...) {
    };
    Shards shards(reactor, options, peers, {nothing, nothing, nothing, nothing, nothing});
    const Endpoint endpoint = peers.bind({Transport::tcp, "127.0.0.1", 0, {}});
    std::vector<RawPeer> raw;
    const auto connect = [&](std::size_t count) {
        const std::size_t before = remote.size() + peers.sessions().size();
        for (std::size_t number = 0; number < count; ++number) {
            raw.emplace_back(endpoint);
        }
        return eventually([&] {
            reactor.poll();
            return remote.size() + peers.sessions().size() == before + count;
        });
    };
    const auto on_shard = [&](std::size_t shard) {
        std::size_t count = 0;
        for (std::uint64_t id = 1; id <= raw.size(); ++id) {
            count += remote.find(id) != nullptr && remote.find(id)->shard == shard ? 1U : 0U;
        }
        return count;
    };
    REQUIRE(connect(8));
    for (const std::size_t shard : {0U, 1U, 2U}) {
        CHECK(on_shard(shard) == 2);
    }
    CHECK(peers.sessions().size() == 2);
    for (std::size_t id = 1; id <= 8; ++id) {  // two of them leave a thread without connections
        if (remote.find(id) != nullptr && remote.find(id)->shard == 1) {
            raw[id - 1].close();
        }
    }
    CHECK(eventually([&] {
        reactor.poll();
        return on_shard(1) == 0;
    }));
    REQUIRE(connect(2));
    CHECK(on_shard(1) == 2);
}

TEST_CASE("a topic is no longer wanted when its last subscriber has disconnected, whatever its thread",
          "[core][publisher][shards]") {
    PublisherHarness h(on_threads(2));
    const TopicId topic = h.publisher->intern("topic");
    std::vector<RawPeer> peers;
    for (int number = 0; number < 4; ++number) {
        peers.push_back(h.subscriber({"top"}));
        CHECK(h.publisher->wanted(topic));
    }
    peers[0].send(cancel("top"));
    peers[1].send(cancel("top"));
    peers[2].close();
    CHECK(h.turn_until([&] { return h.totals().subscriptions == 1; }));
    CHECK(h.publisher->wanted(topic));
    peers[3].close();
    CHECK(h.turn_until([&] { return h.totals().subscriptions == 0; }));
    CHECK_FALSE(h.publisher->wanted(topic));
}

TEST_CASE("readers of different topics on one thread receive their own, in order", "[core][publisher][shards]") {
    PublisherHarness h(on_threads(2));
    std::vector<RawPeer> peers;
    for (const std::string_view prefix : {"a", "b", "", "ab", "a", "c"}) {
        peers.push_back(h.subscriber({prefix}));
    }
    std::vector<std::string> expected(peers.size(), publisher_hello());
    for (int number = 0; number < 3'000; ++number) {
        const std::string topic = number % 7 == 0 ? "ab" : number % 3 == 0 ? "a" : number % 5 == 0 ? "b" : "c";
        h.publisher->send(topic, std::to_string(number));
        const std::array<std::string_view, 6> prefixes = {"a", "b", "", "ab", "a", "c"};
        for (std::size_t peer = 0; peer < peers.size(); ++peer) {
            expected[peer] += topic.starts_with(prefixes[peer]) ? message(topic, std::to_string(number)) : "";
        }
    }
    for (std::size_t peer = 0; peer < peers.size(); ++peer) {
        CHECK(h.turn_until([&] { return peers[peer].read() == expected[peer]; }));
    }
    CHECK(h.totals().dropped == 0);
}

TEST_CASE("the monitor receives events of all threads on the reactor's thread, in order for each connection",
          "[core][publisher][shards]") {
    PublisherHarness h(on_threads(4));
    std::vector<std::pair<std::uint64_t, Kind>> told;
    const std::thread::id home = std::this_thread::get_id();
    bool is_home = true;
    bool is_normal = true;
    h.publisher->set_monitor([&](const MonitorEvent& event) {
        is_home = is_home && std::this_thread::get_id() == home;
        is_normal = is_normal && (event.kind != Kind::disconnected || event.ending == PeerEnding::normal);
        told.emplace_back(event.peer_id, event.kind);
        (void)h.publisher->subscribers();  // queries all threads, from within
        (void)h.totals();
    });
    {
        std::vector<RawPeer> peers;
        for (int number = 0; number < 8; ++number) {
            peers.push_back(h.connect());
            peers.back().send(greeting() + ready("SUB") + subscribe("a") + cancel("a"));
        }
        const auto is_unsubscribed = [](const auto& entry) {
            return entry.second == Kind::unsubscribed;
        };
        CHECK(h.turn_until([&] { return std::count_if(told.begin(), told.end(), is_unsubscribed) == 8; }));
    }
    CHECK(h.turn_until([&] { return told.size() == 8 * 5; }));
    CHECK(is_home);
    CHECK(is_normal);
    for (std::size_t id = 1; id <= 8; ++id) {
        std::vector<Kind> kinds;
        for (const auto& [peer_id, kind] : told) {
            if (peer_id == id) {
                kinds.push_back(kind);
            }
        }
        CHECK(kinds == std::vector<Kind>{Kind::accepted, Kind::handshake_done, Kind::subscribed, Kind::unsubscribed,
                                         Kind::disconnected});
    }
    h.publisher->set_monitor({});
}

TEST_CASE("an exception of a monitor leaves the reactor, and the publisher continues", "[core][publisher][shards]") {
    PublisherHarness h(on_threads(2));
    bool has_thrown = false;
    h.publisher->set_monitor([&](const MonitorEvent& event) {
        if (event.kind == Kind::subscribed && !std::exchange(has_thrown, true)) {
            throw std::runtime_error("of the monitor");
        }
    });
    RawPeer peer = h.connect();
    peer.send(greeting() + ready("SUB") + subscribe(""));
    std::string what;
    CHECK(eventually([&] {
        try {
            h.turn();
        } catch (const std::runtime_error& error) {
            what = error.what();
        }
        return !what.empty();
    }));
    CHECK(what == "of the monitor");
    h.publisher->set_monitor({});
    h.publish("t", "x");
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + message("t", "x"); }));
}

TEST_CASE("the session limit applies to all threads together", "[core][publisher][shards]") {
    PublisherOptions options = on_threads(4);
    options.sessions_max = 6;
    PublisherHarness h(options);
    std::vector<RawPeer> peers;
    for (int number = 0; number < 6; ++number) {
        peers.push_back(h.subscriber());
    }
    RawPeer refused = h.connect();
    CHECK(h.is_cut(refused));
    CHECK(h.reason() == "too many connections");
    CHECK(h.totals().connections_refused == 1);
    CHECK(h.publisher->subscribers().size() == 6);
    peers.front().close();
    CHECK(h.turn_until([&] { return h.departures.size() == 1; }));
    CHECK(h.serves());
}

TEST_CASE("a new connection displaces the oldest handshake, on whichever thread it is", "[core][publisher][shards]") {
    PublisherOptions options = on_threads(3);
    const bool by_sessions = GENERATE(false, true);
    (by_sessions ? options.sessions_max : options.handshakes_per_address_max) = 5;
    PublisherHarness h(options);
    std::vector<RawPeer> silent;
    for (std::size_t number = 0; number < 12; ++number) {
        silent.push_back(h.connect());
        CHECK(h.turn_until([&] { return h.count(Kind::accepted) == number + 1; }));
        CHECK(h.turn_until([&] { return h.count(Kind::handshake_failed) == (number < 5 ? 0 : number - 4); }));
    }
    for (std::size_t number = 0; number < 12; ++number) {
        CHECK((number < 7) == (h.turn_until([&] {
                  silent[number].read();
                  return number >= 7 || silent[number].at_end();
              }) && silent[number].at_end()));
    }
    CHECK(h.totals().handshakes_failed == 7);
    CHECK(h.reason() == "too many handshakes at once");
    CHECK(h.serves());
}

TEST_CASE("many subscriptions at once wait for the publisher's thread, and none is lost", "[core][publisher][shards]") {
    PublisherHarness h(on_threads(2));
    RawPeer peer = h.subscriber({"first"});
    std::string bytes;
    for (int number = 0; number < 100'000; ++number) {
        const std::string prefix = "prefix/" + std::to_string(number % 5'000);
        bytes += number / 5'000 % 2 == 0 ? subscribe(prefix) : cancel(prefix);
    }
    bytes += subscribe("last") + ping("done");
    peer.send(bytes);
    // The publisher's thread is busy meanwhile: the notes of the other thread stop growing.
    CHECK_FALSE(eventually([&] { return peer.send() && peer.read().ends_with(pong("done")); }, 100ms));
    CHECK(h.turn_until([&] {
        peer.send();
        return peer.read().ends_with(pong("done"));
    }));
    CHECK(h.turn_until([&] { return h.last_status().subscriptions_count == 2; }));
    CHECK(h.publisher->wanted(h.publisher->intern("last")));
    CHECK_FALSE(h.publisher->wanted(h.publisher->intern("prefix/1")));
}

TEST_CASE("inproc peers are served by the given reactor, together with those on other threads",
          "[core][publisher][shards]") {
    PublisherHarness h(on_threads(2));
    RawPeer peer = h.subscriber({""});
    const Endpoint endpoint{Transport::inproc, {}, 0, "in addition to the shards"};
    h.publisher->bind(endpoint);
    Subscriber subscriber(h.reactor, {});
    subscriber.subscribe("");
    subscriber.connect(endpoint);
    CHECK(h.turn_until([&] { return h.totals().subscriptions == 2; }));
    for (int number = 0; number < 1'000; ++number) {
        h.publisher->send("t", std::to_string(number));
    }
    MessageBatch batch;
    std::size_t received = 0;
    CHECK(h.turn_until([&] {
        received += subscriber.receive(batch) ? batch.size() : 0;
        return received == 1'000;
    }));
    CHECK(h.turn_until([&] { return peer.read().ends_with(message("t", "999")); }));
    CHECK(h.totals().matched == 2'000);
}

TEST_CASE("the number of threads is 1 to 64", "[core][publisher][shards]") {
    Reactor reactor;
    CHECK_THROWS_AS(Publisher(reactor, on_threads(0)), std::invalid_argument);
    CHECK_THROWS_AS(Publisher(reactor, on_threads(65)), std::invalid_argument);
    CHECK_NOTHROW(Publisher(reactor, on_threads(64)));
}
