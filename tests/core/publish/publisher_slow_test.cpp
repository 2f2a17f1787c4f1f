#include "core/publish/published.hpp"
#include "core/publish/publisher_setups.hpp"
#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// The numbers of the messages in a stream, or nothing if it does not consist of whole messages.
std::optional<std::vector<int>> numbers_in(std::string_view stream) {
    std::vector<int> numbers;
    while (!stream.empty()) {
        const std::string head = message("t", std::string(payload_bytes, '.')).substr(0, 12);
        if (stream.substr(0, 12) != head) {
            return std::nullopt;
        }
        numbers.push_back(std::stoi(std::string(stream.substr(12, payload_bytes))));
        if (stream.substr(0, 12 + payload_bytes) != message("t", payload_of(numbers.back()))) {
            return std::nullopt;
        }
        stream.remove_prefix(12 + payload_bytes);
    }
    return numbers;
}

std::vector<int> numbers_received(const RawPeer& peer) {
    REQUIRE(peer.received().starts_with(publisher_hello()));
    const auto numbers = numbers_in(std::string_view(peer.received()).substr(publisher_hello().size()));
    REQUIRE(numbers);
    return *numbers;
}

/// Publishes numbered messages until the first subscriber has lost `losses`. Returns their number.
int publish_until_lost(PublisherHarness& h, std::uint64_t losses, RawPeer* fast = nullptr) {
    int number = 0;
    for (; number < 100'000 && h.publisher->subscribers().front().dropped < losses; ++number) {
        h.publish("t", payload_of(number));
        REQUIRE(adds_up(h.totals()));
        if (fast != nullptr) {
            fast->read();
        }
    }
    return number;
}

}  // namespace

TEST_CASE("a slow subscriber loses its oldest whole messages, each counted, and gets the newest",
          "[core][publisher][slow]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    PublisherHarness h(small_backlog(), transport);
    RawPeer peer = h.subscriber({"t"}, 4096);
    const int published = publish_until_lost(h, 1'000);
    const PeerStatus full = h.last_status();
    CHECK(full.dropped >= 1'000);
    CHECK(full.pending > 0);
    CHECK(full.backlog_bytes <= 64 * 1024);

    REQUIRE(h.turn_until([&] {
        peer.read();
        return h.last_status().pending == 0;
    }));
    const PeerStatus status = h.last_status();
    CHECK(status.matched == static_cast<std::uint64_t>(published));
    CHECK(status.dropped == full.dropped);
    CHECK(adds_up(status));
    REQUIRE(h.turn_until([&] { return peer.read().ends_with(message("t", payload_of(published - 1))); }));
    const std::vector<int> numbers = numbers_received(peer);
    CHECK(numbers.size() == status.sent);
    CHECK(numbers.front() == 0);
    CHECK(numbers.back() == published - 1);
    CHECK(is_strictly_rising(numbers));
}

TEST_CASE("a peer that reads a few bytes at a time still gets whole messages", "[core][publisher][slow]") {
    PublisherHarness h(small_backlog(), Transport::ipc);
    RawPeer peer = h.subscriber({"t"});
    int published = publish_until_lost(h, 1);
    for (; published < 4'000; ++published) {
        h.publish("t", payload_of(published));
        peer.read(777);
        REQUIRE(adds_up(h.last_status()));
    }
    REQUIRE(h.turn_until([&] { return peer.read().ends_with(message("t", payload_of(published - 1))); }));
    const std::vector<int> numbers = numbers_received(peer);
    CHECK(is_strictly_rising(numbers));
    CHECK(numbers.size() == h.last_status().sent);
    CHECK(numbers.size() + h.last_status().dropped == 4'000);
}

TEST_CASE("a slow subscriber does not affect another one", "[core][publisher][slow]") {
    PublisherHarness h(small_backlog());
    const RawPeer slow = h.subscriber({"t"}, 4096);
    RawPeer fast = h.subscriber({"t"});
    const int published = publish_until_lost(h, 500, &fast);
    CHECK(h.last_status().dropped == 0);
    REQUIRE(h.turn_until([&] { return fast.read().ends_with(message("t", payload_of(published - 1))); }));
    CHECK(numbers_received(fast).size() == static_cast<std::size_t>(published));
    CHECK(h.publisher->subscribers().front().dropped >= 500);
}

TEST_CASE("a subscriber without messages is not affected by the traffic of others", "[core][publisher][slow]") {
    PublisherHarness h(small_backlog());
    const RawPeer slow = h.subscriber({"t"}, 4096);
    RawPeer quiet = h.subscriber({"rare"});
    publish_until_lost(h, 500);
    h.publish("rare", "x");
    CHECK(h.turn_until([&] { return quiet.read() == publisher_hello() + message("rare", "x"); }));
    CHECK(h.last_status().dropped == 0);
}

TEST_CASE("a batch over the limit loses its oldest messages for every subscriber, and they are counted",
          "[core][publisher][slow]") {
    PublisherHarness h(small_backlog());
    RawPeer peer = h.subscriber({"t"});
    for (int number = 0; number < 200; ++number) {
        h.commit("t", payload_of(number));
        REQUIRE(h.last_status().backlog_bytes <= 64 * 1024);
    }
    h.publisher->flush();
    REQUIRE(h.turn_until([&] { return peer.read().ends_with(message("t", payload_of(199))); }));
    const std::vector<int> numbers = numbers_received(peer);
    CHECK(numbers.size() == h.last_status().sent);
    CHECK(numbers.size() + h.last_status().dropped == 200);
    CHECK(numbers.back() - numbers.front() + 1 == static_cast<int>(numbers.size()));
}

TEST_CASE("a message larger than the backlog is delivered to a subscriber that reads it", "[core][publisher][slow]") {
    PublisherHarness h(small_backlog());
    RawPeer peer = h.subscriber({"t"});
    const std::string large(300'000, 'x');
    h.publish("t", large);
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + message("t", large); }));
    CHECK(h.last_status().dropped == 0);
}
