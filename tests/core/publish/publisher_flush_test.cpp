#include "core/publish/publisher_setups.hpp"
#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr std::size_t flush_backlog_bytes = 1024 * 1024;

/// Publishes until all `stuck` subscribers, which do not read, are full. None is slow before commit_much().
void fill(PublisherHarness& h, RawPeer& reading, std::ptrdiff_t stuck) {
    REQUIRE(h.turn_until([&] {
        reading.read();
        for (int number = 0; number < 20; ++number) {
            h.publish("t", std::string(1'000, 'x'));
        }
        const auto all = h.publisher->subscribers();
        return std::count_if(all.begin(), all.end(), [](const PeerStatus& status) { return status.pending > 0; }) ==
               stuck;
    }));
    REQUIRE(h.count(MonitorEventKind::slow) == 0);
}

/// Commits so much that stuck subscribers are slow from now on. Does not flush.
void commit_much(PublisherHarness& h) {
    for (std::size_t bytes = 0; bytes <= flush_backlog_bytes / 2; bytes += 1'000) {
        h.commit("t", std::string(1'000, 'y'));
    }
}

/// Calls `react` when a subscriber is slow.
void on_slow(PublisherHarness& h, const std::function<void()>& react) {
    h.publisher->set_monitor([react](const MonitorEvent& event) {
        if (event.kind == MonitorEventKind::slow) {
            react();
        }
    });
}

bool ends_with(RawPeer& peer, const std::string& last) {
    return peer.read().ends_with(last);
}

}  // namespace

TEST_CASE("messages that a monitor publishes during a flush, and the messages after them, are sent",
          "[core][publisher][flush]") {
    PublisherHarness h(small_backlog(flush_backlog_bytes));
    const RawPeer stuck = h.subscriber({""}, 4096);
    RawPeer reading = h.subscriber({""});
    fill(h, reading, 1);
    on_slow(h, [&] { h.publisher->send("t", "alarm"); });
    commit_much(h);
    h.publisher->flush();  // the stuck subscriber is written first
    h.publisher->send("t", "last");
    CHECK(h.turn_until([&] { return ends_with(reading, message("t", "alarm") + message("t", "last")); }));
}

TEST_CASE("messages that a monitor publishes repeatedly during one flush are sent", "[core][publisher][flush]") {
    PublisherHarness h(small_backlog(flush_backlog_bytes));
    const RawPeer first = h.subscriber({""}, 4096);
    RawPeer reading = h.subscriber({""});
    const RawPeer last = h.subscriber({""}, 4096);
    fill(h, reading, 2);
    int alarms = 0;
    on_slow(h, [&] { h.publisher->send("t", std::to_string(++alarms)); });
    commit_much(h);
    h.publisher->flush();
    CHECK(alarms == 2);
    CHECK(h.turn_until([&] { return ends_with(reading, message("t", "1") + message("t", "2")); }));
}

TEST_CASE("a publisher that waits for capacity sends its committed messages, flushed or not",
          "[core][publisher][flush]") {
    PublisherHarness h(small_backlog(flush_backlog_bytes));
    RawPeer peer = h.subscriber({""});
    std::string expected = publisher_hello();
    for (std::size_t bytes = 0; bytes < 2 * flush_backlog_bytes && h.publisher->has_room(1'000); bytes += 1'000) {
        h.commit("t", std::string(1'000, 'x'));
        expected += message("t", std::string(1'000, 'x'));
    }
    CHECK_FALSE(h.publisher->has_room(1'000));
    CHECK(h.turn_until([&] { return h.publisher->has_room(1'000); }));
    CHECK(h.turn_until([&] { return peer.read() == expected; }));
    CHECK(h.totals().dropped == 0);
}

TEST_CASE("a subscriber that connects or disconnects between unflushed messages affects only later messages",
          "[core][publisher][flush]") {
    PublisherHarness h;
    RawPeer first = h.subscriber({"t"});
    std::optional<RawPeer> leaving(h.subscriber({"t"}));
    h.commit("t", "1");
    h.commit("t", "2");
    RawPeer second = h.subscriber({"t"});
    h.commit("t", "3");
    h.commit("t", "4");
    leaving.reset();
    REQUIRE(h.turn_until([&] { return h.departures.size() == 1; }));
    h.commit("t", "5");
    h.commit("t", "6");
    h.publisher->flush();
    const std::string middle = message("t", "3") + message("t", "4") + message("t", "5") + message("t", "6");
    CHECK(h.turn_until(
        [&] { return first.read() == publisher_hello() + message("t", "1") + message("t", "2") + middle; }));
    CHECK(h.turn_until([&] { return second.read() == publisher_hello() + middle; }));
    CHECK(h.departures[0].matched == 4);
    CHECK(h.departures[0].dropped == 4);
}

TEST_CASE("a subscription change between unflushed messages affects only later messages", "[core][publisher][flush]") {
    PublisherHarness h;
    RawPeer all = h.subscriber({"t"});
    RawPeer some = h.subscriber({"other"});
    const auto turn_until_told = [&](MonitorEventKind kind) {
        const std::size_t before = h.count(kind);
        return h.turn_until([&] { return h.count(kind) > before; });  // reading the totals would change what is tested
    };
    h.commit("t", "1");
    h.commit("t", "2");
    some.send(subscribe("t"));
    REQUIRE(turn_until_told(MonitorEventKind::subscribed));
    h.commit("t", "3");
    h.commit("t", "4");
    some.send(cancel("t"));
    REQUIRE(turn_until_told(MonitorEventKind::unsubscribed));
    h.commit("t", "5");
    h.commit("t", "6");
    h.publisher->flush();
    const std::string middle = message("t", "3") + message("t", "4");
    CHECK(h.turn_until([&] { return some.read() == publisher_hello() + middle; }));
    CHECK(h.turn_until([&] {
        return all.read() == publisher_hello() + message("t", "1") + message("t", "2") + middle + message("t", "5") +
                                 message("t", "6");
    }));
    CHECK(h.totals().matched == 8);
}
