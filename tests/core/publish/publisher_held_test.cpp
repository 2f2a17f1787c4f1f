#include "core/limits.hpp"
#include "core/publish/publisher_setups.hpp"
#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// More than a kernel accepts for a reader that does not read.
constexpr std::size_t held_payload_bytes = 8'000'000;
constexpr int readers_count = 20;
constexpr std::string_view why = "reads too slowly";

std::string topic_of(int number) {
    return "t" + std::to_string(100 + number);
}

/// A publisher and subscribers that do not read. Each has its own topic, so that each is stuck in a different message.
struct Sleepers : PublisherHarness {
    Sleepers() : PublisherHarness(small_backlog()) {
        for (int number = 0; number < readers_count; ++number) {
            sleeping.push_back(subscriber({topic_of(number)}, 4096));
        }
    }
    /// Bytes of the messages that a subscriber is in the middle of, each in its own segment.
    [[nodiscard]] std::size_t kept_bytes() const {
        std::size_t bytes = 0;
        for (const PeerStatus& status : publisher->subscribers()) {
            bytes += status.pending > 0 ? held_payload_bytes : 0;
        }
        return bytes;
    }

    std::vector<RawPeer> sleeping;
};

/// The limit, and the latest message.
constexpr std::size_t kept_bytes_max = limits::held_bytes_max + held_payload_bytes;

}  // namespace

TEST_CASE("subscribers stuck longest in large messages are closed, and a subscriber that reads loses nothing",
          "[core][publisher][slow]") {
    Sleepers h;
    RawPeer fast = h.subscriber();
    std::size_t expected = publisher_hello().size();
    for (int number = 0; number < readers_count; ++number) {
        const std::string wire =
            message(topic_of(number), std::string(held_payload_bytes, static_cast<char>('a' + number)));
        h.publish(topic_of(number), std::string_view(wire).substr(wire.size() - held_payload_bytes));
        REQUIRE(h.kept_bytes() > 0);
        CHECK(h.kept_bytes() <= kept_bytes_max + held_payload_bytes);  // includes the one that reads
        expected += wire.size();
        REQUIRE(h.turn_until([&] { return fast.read().size() == expected; }));
        REQUIRE((std::string_view(fast.received()).substr(expected - wire.size()) == wire));
        CHECK(adds_up(h.totals()));
    }
    const std::size_t closed = h.departures.size();
    CHECK(closed >= readers_count - 1 - limits::held_bytes_max / held_payload_bytes);
    CHECK(closed < readers_count);
    for (std::size_t i = 0; i < closed; ++i) {
        CHECK(h.departures[i].id == h.arrivals[i].id);  // the furthest behind first
        CHECK(h.reasons[i] == why);
        CHECK(h.departures[i].dropped == 1);
    }
    CHECK(h.drops_reported == closed);
    CHECK(h.totals().dropped == closed);
    CHECK(h.is_cut(h.sleeping.front()));
    CHECK(h.serves());
}

TEST_CASE("the memory held for slow subscribers stays bounded within one iteration, without calling the monitor",
          "[core][publisher][slow]") {
    Sleepers h;
    const std::string payload(held_payload_bytes, 'x');
    for (int number = 0; number < readers_count; ++number) {
        h.commit(topic_of(number), payload);
        h.publisher->flush();
        REQUIRE(h.last_status().subscriptions_count == 1);
        CHECK(h.kept_bytes() <= kept_bytes_max);
        CHECK(adds_up(h.totals()));
    }
    CHECK(h.departures.empty());
    h.commit(topic_of(0), "for one that is dropped but not yet closed");
    h.publisher->flush();
    h.turn();
    CHECK(h.departures.size() >= readers_count - 1 - limits::held_bytes_max / held_payload_bytes);
    CHECK(h.departures.front().dropped == 2);
    CHECK(h.reason() == why);
    CHECK(adds_up(h.totals()));
    CHECK(h.serves());
}

TEST_CASE("a monitor may publish when it is notified that a subscriber reads too slowly", "[core][publisher][slow]") {
    Sleepers h;
    const std::string payload(held_payload_bytes, 'x');
    int published = 0;
    std::size_t closed = 0;
    h.on_event = [&](const MonitorEvent& event) {
        if (event.kind == MonitorEventKind::disconnected) {
            closed += event.detail == why ? 1U : 0U;
            h.publisher->send(topic_of(published++ % readers_count), payload);
            h.publisher->flush();
        }
    };
    while (published < readers_count) {
        h.publisher->send(topic_of(published++), payload);
        h.turn();
        CHECK(h.kept_bytes() <= kept_bytes_max + 64 * 1024);
    }
    CHECK(h.turn_until([&] { return h.publisher->subscribers().size() + closed == readers_count; }));
    CHECK(closed >= readers_count - 1 - limits::held_bytes_max / held_payload_bytes);
    CHECK(adds_up(h.totals()));
    CHECK(h.serves());
}

TEST_CASE("a single message over the limit still reaches the subscribers that are in the middle of it",
          "[core][publisher][slow]") {
    PublisherHarness h(small_backlog());
    RawPeer one = h.subscriber({"a"});
    RawPeer other = h.subscriber({"a"});
    const std::string large(limits::held_bytes_max + 1, 'x');
    h.publish("a", large);
    for (int number = 0; number < 100; ++number) {
        h.publish("a", std::string(1'000, '.'));
    }
    REQUIRE(h.departures.empty());
    for (RawPeer* peer : {&one, &other}) {
        const std::size_t bytes = publisher_hello().size() + message("a", large).size();
        REQUIRE(h.turn_until([&] { return peer->read().size() >= bytes; }));
        CHECK((std::string_view(peer->received()).substr(publisher_hello().size(), message("a", large).size()) ==
               message("a", large)));
    }
    CHECK(h.departures.empty());
    CHECK(adds_up(h.totals()));
}
