#include "core/publish/publisher_setups.hpp"
#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

const std::string four_megabytes(4 * 1024 * 1024, 'x');

struct SlowCrowd : PublisherHarness {
    explicit SlowCrowd(std::size_t io_threads, Transport transport = Transport::tcp)
        : PublisherHarness(on_threads(io_threads), transport) {
        for (int number = 0; number < 5; ++number) {
            peers.push_back(subscriber({""}, 4'096));
        }
    }
    /// Returns true if all peers reach the end of the stream.
    bool all_end() {
        return turn_until([&] {
            return std::all_of(peers.begin(), peers.end(), [](RawPeer& peer) {
                peer.read();
                return peer.at_end();
            });
        });
    }

    std::vector<RawPeer> peers;
};

}  // namespace

TEST_CASE("closing lets the subscribers of all threads read what is pending", "[core][publisher][shards][close]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    SlowCrowd h(3, transport);
    h.publisher->send("large", four_megabytes);
    h.commit("last", "not yet flushed");
    int done = 0;
    h.publisher->close(60s, [&] { ++done; });
    CHECK(h.all_end());
    for (RawPeer& peer : h.peers) {
        const std::string all =
            publisher_hello() + message("large", four_megabytes) + message("last", "not yet flushed");
        CHECK((peer.received() == all));
        CHECK(done == 0);
        peer.close();
    }
    CHECK(h.turn_until([&] { return done == 1; }));
    CHECK(h.departures.size() == 5);
    CHECK(h.totals().sent == 10);
    CHECK(h.totals().dropped == 0);
}

TEST_CASE("messages not read within the grace period are dropped on all threads, and a second close shortens it",
          "[core][publisher][shards][close]") {
    SlowCrowd h(3);
    h.publisher->send("large", four_megabytes);
    int done = 0;
    h.publisher->close(60s, [&] { ++done; });
    h.turn();
    h.publisher->close(20ms, [&] { ++done; });
    CHECK(h.turn_until([&] { return done == 2; }));
    CHECK(h.reason() == "did not read in time");
    CHECK(h.publisher->subscribers().empty());
    CHECK(h.totals().dropped == 5);
    CHECK(adds_up(h.totals()));
}

TEST_CASE("closing without subscribers is done soon, and its callback may destroy the publisher",
          "[core][publisher][shards][close]") {
    PublisherHarness h(on_threads(4));
    bool done = false;
    h.publisher->close(60s, [&] {
        h.publisher.reset();
        done = true;
    });
    CHECK(h.turn_until([&] { return done; }));
}

TEST_CASE("a connection that is made while the publisher closes is closed", "[core][publisher][shards][close]") {
    for (int round = 0; round < 20; ++round) {
        PublisherHarness h(on_threads(2));
        RawPeer first = h.connect();
        RawPeer second = h.connect();
        if (round % 2 == 0) {
            h.turn();
        }
        bool done = false;
        h.publisher->close(60s, [&] { done = true; });
        CHECK(h.turn_until([&] { return done; }));
        CHECK(h.is_cut(first));
        CHECK(h.is_cut(second));
    }
}

TEST_CASE("a publisher on several threads may be destroyed at any moment", "[core][publisher][shards]") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        PublisherHarness h(on_threads(2 + random() % 3), seed % 2 == 0 ? Transport::tcp : Transport::ipc);
        std::vector<RawPeer> peers;
        const auto steps = random() % 60;
        for (std::uint_fast32_t step = 0; step < steps; ++step) {
            switch (random() % 6) {
                case 0:
                    peers.push_back(h.connect());
                    peers.back().send(greeting() + ready("SUB") + subscribe("t"));
                    break;
                case 1: h.turn(); break;
                case 2: h.publisher->send("t", four_megabytes.substr(0, random() % 100'000)); break;
                case 3: h.commit("t", "x"); break;
                case 4: h.publisher->flush(); break;
                default:
                    if (!peers.empty()) {
                        peers[random() % peers.size()].read();
                    }
            }
        }
        h.publisher.reset();
        h.turn();  // calls posted to the reactor arrive too late
    }
}

TEST_CASE("sessions that end with the publisher are closed for their peers", "[core][publisher][shards]") {
    SlowCrowd h(4);
    h.publisher.reset();
    CHECK(h.all_end());
}

TEST_CASE("a subscriber on any thread can be closed by its id", "[core][publisher][shards][close]") {
    SlowCrowd h(3);
    for (const PeerStatus& peer : h.publisher->subscribers()) {
        CHECK(h.publisher->close_peer(peer.id));
    }
    CHECK(h.all_end());
    CHECK(h.turn_until([&] { return h.publisher->subscribers().empty(); }));
    CHECK(adds_up(h.totals()));
}
