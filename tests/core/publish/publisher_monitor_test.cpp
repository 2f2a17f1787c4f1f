#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

/// Deadlines are checked every 5 ms.
PublisherOptions small_and_quick() {
    PublisherOptions options;
    options.backlog_bytes_max = 64 * 1024;
    options.segment_bytes = 4 * 1024;
    options.heartbeat_interval = 20ms;
    options.heartbeat_timeout = 60s;
    return options;
}

/// Publishes until the only subscriber has lost messages.
void overrun(PublisherHarness& h) {
    const std::uint64_t before = h.last_status().dropped;
    for (int number = 0; number < 100'000 && h.last_status().dropped == before; ++number) {
        h.publish("t", std::string(10'000, 'x'));
    }
    REQUIRE(h.last_status().dropped > before);
}

}  // namespace

TEST_CASE("every kind of event has its own name", "[core][publisher][monitor]") {
    std::vector<std::string_view> names;
    for (int kind = 0; kind <= static_cast<int>(Kind::closed); ++kind) {
        names.push_back(to_string(static_cast<Kind>(kind)));
    }
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
    CHECK(std::find(names.begin(), names.end(), "unknown") == names.end());
}

TEST_CASE("the monitor receives the events of a subscriber in order", "[core][publisher][monitor]") {
    PublisherHarness h;
    {
        RawPeer peer = h.subscriber({"a"});
        peer.send(subscribe("a") + cancel("a") + cancel("a"));
        REQUIRE(h.turn_until([&] { return h.last_status().subscriptions_count == 0; }));
    }
    REQUIRE(h.turn_until([&] { return h.departures.size() == 1; }));
    h.publisher->unbind(h.endpoint);
    CHECK(h.events == std::vector<Kind>{Kind::listening, Kind::accepted, Kind::handshake_done, Kind::subscribed,
                                        Kind::unsubscribed, Kind::disconnected, Kind::closed});
}

TEST_CASE("losses are reported as sums, the last ones when the peer disconnects", "[core][publisher][monitor]") {
    PublisherHarness h(small_and_quick());
    std::optional<RawPeer> peer(h.subscriber({"t"}, 4096));
    overrun(h);
    CHECK(h.turn_until([&] { return h.drops_reported == h.totals().dropped; }));
    overrun(h);
    const std::size_t told = h.count(Kind::dropped);
    peer->reset();
    REQUIRE(h.turn_until([&] { return h.departures.size() == 1; }));
    CHECK(h.drops_reported == h.totals().dropped);
    CHECK(h.count(Kind::dropped) > told);
    CHECK(h.events.back() == Kind::disconnected);
    CHECK(h.departures[0].dropped == h.totals().dropped);
}

TEST_CASE("a slow subscriber is reported once, until it has caught up", "[core][publisher][monitor]") {
    PublisherHarness h(small_and_quick());
    RawPeer peer = h.subscriber({"t"}, 4096);
    overrun(h);
    overrun(h);
    CHECK(h.count(Kind::slow) == 1);
    CHECK(h.turn_until([&] {
        peer.read();
        return h.last_status().pending == 0;
    }));
    CHECK_FALSE(eventually(
        [&] {
            h.turn();
            return h.count(Kind::slow) > 1;
        },
        30ms));
    overrun(h);
    CHECK(h.count(Kind::slow) == 2);
}

TEST_CASE("a monitor receives events only while it is set", "[core][publisher][monitor]") {
    PublisherHarness h;
    h.publisher->set_monitor({});
    RawPeer peer = h.connect();
    peer.send(greeting() + ready("SUB"));
    REQUIRE(h.turn_until([&] { return h.publisher->subscribers().size() == 1; }));
    std::vector<Kind> heard;
    h.publisher->set_monitor([&](const MonitorEvent& event) { heard.push_back(event.kind); });
    peer.send(subscribe("t"));
    REQUIRE(h.turn_until([&] { return h.last_status().subscriptions_count == 1; }));
    CHECK(heard == std::vector<Kind>{Kind::subscribed});
    CHECK(h.events == std::vector<Kind>{Kind::listening});
}

TEST_CASE("a monitor may replace itself while it is called", "[core][publisher][monitor]") {
    PublisherHarness h;
    const std::string marker(100, 'x');  // on the heap, so that a sanitizer detects a use after destruction
    std::string last;
    h.publisher->set_monitor([&h, &last, marker](const MonitorEvent&) {
        h.publisher->set_monitor({});
        last = marker;
    });
    const RawPeer peer = h.connect();
    CHECK(h.turn_until([&] { return last == marker; }));
}

TEST_CASE("an exception of a monitor affects only its own call", "[core][publisher][monitor]") {
    const Kind at = GENERATE(Kind::accepted, Kind::handshake_done, Kind::subscribed, Kind::unsubscribed,
                             Kind::disconnected, Kind::closed);
    CAPTURE(to_string(at));
    PublisherHarness h;
    int thrown = 0;
    h.publisher->set_monitor([&](const MonitorEvent& event) {
        if (event.kind == at) {
            ++thrown;
            throw std::runtime_error("a monitor's own");
        }
    });
    int passed_on = 0;
    const auto turn_until = [&](auto condition) {
        return eventually([&] {
            try {
                h.turn();
            } catch (const std::runtime_error&) {
                ++passed_on;
            }
            return condition();
        });
    };
    for (std::uint64_t number = 1; number <= 2; ++number) {
        RawPeer peer = h.connect();
        peer.send(greeting() + ready("SUB") + subscribe("a") + subscribe("t") + cancel("a"));
        REQUIRE(turn_until([&] { return h.last_status().subscriptions == std::vector<std::string>{"t"}; }));
        h.publisher->send("t", "x");
        CHECK(turn_until([&] { return peer.read() == publisher_hello() + message("t", "x"); }));
        peer.close();
        REQUIRE(turn_until([&] { return h.publisher->subscribers().empty(); }));
        CHECK(h.totals().connections_accepted == number);
    }
    CHECK(h.publisher->unbind(h.endpoint));
    CHECK(h.publisher->endpoints().empty());
    CHECK(turn_until([&] { return passed_on == thrown; }));
    CHECK(thrown > 0);
}

TEST_CASE("an endpoint that is unbound within a call is free immediately, and accepts no more connections",
          "[core][publisher][monitor]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    PublisherHarness h;
    Endpoint wanted{transport, "", 0, "unbound within a call"};
    if (transport == Transport::tcp) {
        wanted = {transport, "127.0.0.1", 0, ""};
    } else if (transport == Transport::ipc) {
        wanted.path = h.scratch.path("again.sock");
    }
    const Endpoint at = h.publisher->bind(wanted);
    const bool binds_again = GENERATE(true, false);
    int accepted = 0;
    bool is_bound = false;
    h.publisher->set_monitor([&](const MonitorEvent& event) {
        if (event.kind == Kind::accepted && ++accepted == 1) {
            h.publisher->unbind(at);
            is_bound = binds_again && h.publisher->bind(at) == at;
        }
    });
    Publisher others(h.reactor, {});
    for (int count = 0; count < 5; ++count) {
        others.connect(at);
    }
    REQUIRE(h.turn_until([&] { return accepted == 1; }));
    for (int turn = 0; turn < 10; ++turn) {
        h.turn();
    }
    CHECK(is_bound == binds_again);
    CHECK((binds_again || accepted == 1));
    CHECK(h.publisher->endpoints().size() == (binds_again ? 2U : 1U));
}

TEST_CASE("a monitor may query, close and publish from any of its calls", "[core][publisher][monitor]") {
    const Kind at = GENERATE(Kind::accepted, Kind::handshake_done, Kind::subscribed, Kind::disconnected);
    const int what = GENERATE(range(0, 4));
    CAPTURE(to_string(at), what);
    PublisherHarness h;
    const TopicId topic = h.publisher->intern("t");
    h.publisher->set_monitor([&](const MonitorEvent& event) {
        if (event.kind != at) {
            return;
        }
        (void)h.publisher->subscribers();
        (void)h.publisher->totals();
        switch (what) {
            case 0: h.publisher->close(std::chrono::milliseconds(0), {}); break;
            case 1: h.publisher->unbind(h.endpoint); break;
            case 2: h.publisher->send(topic, "x"); break;
            default: h.publisher->flush();
        }
    });
    RawPeer peer = h.connect();
    peer.send(greeting() + ready("SUB") + subscribe("t"));
    for (int turn = 0; turn < 10; ++turn) {
        h.turn();
    }
    peer.close();
    for (int turn = 0; turn < 10; ++turn) {
        h.turn();
    }
    CHECK(adds_up(h.totals()));
    CHECK(h.totals().pending == 0);
}
