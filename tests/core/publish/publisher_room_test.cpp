#include "core/publish/published.hpp"
#include "core/publish/publisher_setups.hpp"
#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Publishes messages of `topics` in turn while there is capacity, without running the reactor. Returns their number.
int publish_while_room(PublisherHarness& h, std::initializer_list<std::string_view> topics, int messages_max) {
    int number = 0;
    while (number < messages_max && h.publisher->has_room(payload_bytes)) {
        h.commit(topics.begin()[static_cast<std::size_t>(number) % topics.size()], payload_of(number));
        ++number;
        REQUIRE(h.totals().dropped == 0);
    }
    return number;
}

/// Publishes until it is full even after running the reactor: the subscribers' sockets are full too.
int publish_until_stuck(PublisherHarness& h, std::initializer_list<std::string_view> topics, int messages_max) {
    int all = 0;
    for (int now = 1; now > 0 && all < messages_max; all += now) {
        h.publisher->flush();
        h.turn();
        now = publish_while_room(h, topics, messages_max - all);
    }
    return all;
}

/// Reads everything for `fast`, and a little for `slow` when the publisher is full. Returns true if it has capacity in
/// the end.
bool wait_for_room(PublisherHarness& h, RawPeer& fast, RawPeer& slow, int& waits) {
    return h.turn_until([&] {
        fast.read();
        if (h.publisher->has_room(payload_bytes)) {
            return true;
        }
        slow.read(40'009);
        ++waits;
        return false;
    });
}

bool wait_for_room(PublisherHarness& h, RawPeer& peer, std::size_t bytes) {
    return h.turn_until([&] {
        peer.read();
        return h.publisher->has_room(bytes);
    });
}

bool reads_all(PublisherHarness& h, RawPeer& peer, const std::string& expected) {
    return h.turn_until([&] { return peer.read().size() >= expected.size(); }) && peer.received() == expected;
}

}  // namespace

TEST_CASE("without subscribers there is always capacity", "[core][publisher][room]") {
    PublisherHarness h(small_backlog());
    CHECK(publish_while_room(h, {"t"}, 1'000) == 1'000);
    CHECK(h.publisher->has_room(10 * small_backlog_bytes));
}

TEST_CASE("a publisher that checks for capacity loses nothing, whatever a slow and a fast subscriber do",
          "[core][publisher][room]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    PublisherHarness h(small_backlog(), transport);
    RawPeer slow = h.subscriber({"t"}, 4096);
    RawPeer fast = h.subscriber({"t"});
    std::string expected = publisher_hello();
    int waits = 0;
    for (int number = 0; number < 8'000; ++number) {  // more than the kernel accepts for the slow one
        CHECK(wait_for_room(h, fast, slow, waits));
        h.publisher->send("t", payload_of(number));
        expected += message("t", payload_of(number));
    }
    CHECK(waits > 0);
    CHECK(reads_all(h, slow, expected));
    CHECK(reads_all(h, fast, expected));
    CHECK(h.totals().dropped == 0);
}

TEST_CASE("the capacity is the whole backlog except for a segment", "[core][publisher][room]") {
    PublisherHarness h(small_backlog());
    const RawPeer stuck = h.subscriber({"t"}, 4096);
    const int messages = publish_until_stuck(h, {"t"}, 100'000);
    CHECK(messages < 100'000);
    CHECK(h.last_status().backlog_bytes + 8 * 1024 >= small_backlog_bytes);
    CHECK(h.last_status().backlog_bytes <= small_backlog_bytes);
    CHECK_FALSE(h.publisher->has_room(payload_bytes));
}

TEST_CASE("the slowest of several subscribers determines the capacity, whenever it connected",
          "[core][publisher][room]") {
    PublisherHarness h(small_backlog());
    const RawPeer first = h.subscriber({"a"});
    const RawPeer second = h.subscriber({"b"});
    const bool is_first_slow = GENERATE(false, true);
    // Not flushed: everything is pending.
    const int early = publish_while_room(h, {is_first_slow ? "a" : "b"}, 8);
    const int late = publish_while_room(h, {is_first_slow ? "b" : "a"}, 100'000);
    CHECK(early == 8);
    CHECK(late > 40);
    CHECK(late < 64);
}

TEST_CASE("pending data counts from its beginning in its segment", "[core][publisher][room]") {
    PublisherHarness h(small_backlog());
    const RawPeer peer = h.subscriber({"t"});
    // Enough for the publisher to check its subscribers in the middle of a segment, with nothing pending.
    for (std::size_t number = 0; number < limits::backlog_runs_max; ++number) {
        CHECK(h.publisher->has_room(1));
        h.publish("t", "x");
    }
    CHECK(h.last_status().pending == 0);
    CHECK(publish_while_room(h, {"t"}, 100'000) > 40);
}

TEST_CASE("each range of a sparse subscription needs its own capacity", "[core][publisher][room]") {
    PublisherOptions options;
    options.backlog_bytes_max = 64 * 1024 * 1024;
    PublisherHarness h(options);
    const RawPeer sparse = h.subscriber({"a"});
    const RawPeer other = h.subscriber({"b"});
    // Not flushed: everything is pending, every second message for each.
    const int messages = publish_while_room(h, {"a", "b"}, 1'000'000);
    CHECK(messages >= static_cast<int>(2 * limits::backlog_runs_max - 1));
    CHECK(messages <= static_cast<int>(2 * limits::backlog_runs_max));
    CHECK(h.totals().dropped == 0);
}

TEST_CASE("a sparse subscription loses nothing if the publisher checks for capacity", "[core][publisher][room]") {
    PublisherHarness h(small_backlog());
    RawPeer sparse = h.subscriber({"a"}, 4096);
    RawPeer all = h.subscriber({""});
    std::string expected = publisher_hello();
    int waits = 0;
    for (int number = 0; number < 24'000; ++number) {
        CHECK(wait_for_room(h, all, sparse, waits));
        h.publisher->send(number % 3 == 0 ? "a" : "b", payload_of(number));
        expected += number % 3 == 0 ? message("a", payload_of(number)) : "";
    }
    CHECK(waits > 0);
    CHECK(reads_all(h, sparse, expected));
    CHECK(h.totals().dropped == 0);
}

TEST_CASE("a message larger than the backlog fits when nothing is pending", "[core][publisher][room]") {
    PublisherHarness h(small_backlog());
    RawPeer peer = h.subscriber({"t"});
    const std::string large(3 * small_backlog_bytes, 'x');
    std::string expected = publisher_hello();
    for (int round = 0; round < 20; ++round) {
        CHECK(wait_for_room(h, peer, large.size()));
        h.publisher->send("t", "small");
        CHECK_FALSE(h.publisher->has_room(large.size()));
        CHECK(wait_for_room(h, peer, large.size()));
        h.publisher->send("t", large);
        expected += message("t", "small") + message("t", large);
    }
    CHECK(reads_all(h, peer, expected));
    CHECK(h.totals().dropped == 0);
}

TEST_CASE("there is capacity again when the slowest subscriber has disconnected", "[core][publisher][room]") {
    PublisherHarness h(small_backlog());
    RawPeer stuck = h.subscriber({"t"}, 4096);
    publish_until_stuck(h, {"t"}, 100'000);
    REQUIRE_FALSE(h.publisher->has_room(payload_bytes));
    stuck.close();
    CHECK(h.turn_until([&] { return h.publisher->has_room(payload_bytes); }));
}

TEST_CASE("a publisher that waits for capacity lets the event loop sleep", "[core][publisher][room]") {
    PublisherHarness h(small_backlog());
    const RawPeer stuck = h.subscriber({"t"}, 4096);
    publish_until_stuck(h, {"t"}, 100'000);
    bool slept = false;
    for (int turns = 0; turns < 100 && !slept; ++turns) {
        REQUIRE_FALSE(h.publisher->has_room(payload_bytes));
        slept = !h.reactor.run_for(std::chrono::milliseconds(1));  // false: there was nothing to do in all that time
    }
    CHECK(slept);
}

TEST_CASE("a topic longer than all before counts as soon as it is interned", "[core][publisher][room]") {
    PublisherHarness h(small_backlog());
    const RawPeer stuck = h.subscriber({""}, 4096);
    publish_until_stuck(h, {"t"}, 100'000);
    const std::string topic(1000, 'T');
    (void)h.publisher->intern(topic);
    CHECK_FALSE(h.publisher->has_room(1));
}

TEST_CASE("a publisher that checks for capacity loses nothing, whether or not its messages contain samples",
          "[core][publisher][room]") {
    const bool has_samples = GENERATE(false, true);
    PublisherHarness h(small_backlog());
    const RawPeer stuck = h.subscriber({"t"}, 4096);
    const TopicId topic = h.publisher->intern("t");
    const std::string payload(40, 'x');
    std::uint64_t published = 0;
    while (published < 100'000 && h.publisher->has_room(payload.size())) {  // nothing here settles the tail
        payload.copy(h.publisher->prepare(topic, payload.size()), payload.size());
        ++published;
        if (has_samples) {
            h.publisher->commit(payload.size(), {ChannelId{0}, published, published});
        } else {
            h.publisher->commit(payload.size());
        }
    }
    CHECK(published > 500);
    CHECK(published < 100'000);
    CHECK(h.totals().dropped == 0);
}
