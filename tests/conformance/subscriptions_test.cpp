#include "conformance/conformance.hpp"

using namespace telegate;
using namespace telegate::test;

namespace {

/// Publishes `topics` and then "end", which is subscribed, and returns the topics received.
std::vector<std::string> topics_received(Pair<Publisher, Subscriber>& pair, const std::vector<std::string>& topics) {
    for (const std::string& topic : topics) {
        pair.first.send(topic, "payload");
    }
    pair.first.send("end", "payload");
    Inbox inbox(pair.second);
    REQUIRE(pair.turn_until([&] { return inbox.receive() > 0 && inbox.messages.back().at(0) == "end"; }));
    std::vector<std::string> out;
    for (const Frames& frames : inbox.messages) {
        out.push_back(frames.at(0));
    }
    out.pop_back();
    return out;
}

}  // namespace

TEST_CASE("a subscription is a prefix of the first frame", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    using Topics = std::vector<std::string>;
    const std::string binary("\0\xFF\1", 3);
    const std::string long_255(255, 'x');
    const std::string long_256(256, 'x');
    const auto [prefix, matching, others] = GENERATE_REF(table<std::string, Topics, Topics>({
        {"", {"", "a", binary, long_256}, {}},
        {"exact", {"exact"}, {"exac", "Exact", ""}},
        {"host/", {"host/", "host/cpu"}, {"host", "hosts/", "xhost/"}},
        {binary, {binary, binary + '\0'}, {std::string("\0\xFF", 2), std::string(1, '\0')}},
        {long_255, {long_255, long_256}, {std::string(254, 'x')}},
        {long_256, {long_256, long_256 + 'y'}, {long_255}},
    }));
    CAPTURE(prefix.size());
    Pair<Publisher, Subscriber> pair(over);
    REQUIRE(subscribe_to(pair, {"end", prefix}));
    Topics all = matching;
    all.insert(all.end(), others.begin(), others.end());
    CHECK(topics_received(pair, all) == matching);
    CHECK(pair.first.totals().sent == matching.size() + 1);
}

TEST_CASE("unsubscribing ends that subscription and no other", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over);
    REQUIRE(subscribe_to(pair, {"end", "a", "ab"}));
    CHECK(topics_received(pair, {"a", "ab"}) == std::vector<std::string>{"a", "ab"});

    pair.second.unsubscribe("a");
    REQUIRE(pair.turn_until([&] { return pair.first.totals().subscriptions == 2; }));
    CHECK(topics_received(pair, {"a", "ab"}) == std::vector<std::string>{"ab"});

    pair.second.unsubscribe("never subscribed");
    pair.second.unsubscribe("ab");
    REQUIRE(pair.turn_until([&] { return pair.first.totals().subscriptions == 1; }));
    CHECK(topics_received(pair, {"a", "ab"}).empty());
}

TEST_CASE("subscribing twice is the same as subscribing once", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over);
    REQUIRE(subscribe_to(pair, {"end", "a"}));
    pair.second.subscribe("a");
    pair.second.subscribe("b");
    REQUIRE(pair.turn_until([&] { return pair.first.totals().subscriptions == 3; }));
    CHECK(topics_received(pair, {"a"}) == std::vector<std::string>{"a"});
    pair.second.unsubscribe("a");
    REQUIRE(pair.turn_until([&] { return pair.first.totals().subscriptions == 2; }));
    CHECK(topics_received(pair, {"a", "b"}) == std::vector<std::string>{"b"});
}

TEST_CASE("a message that matches two prefixes arrives once", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over);
    REQUIRE(subscribe_to(pair, {"end", "", "h", "host"}));
    CHECK(topics_received(pair, {"host/cpu"}) == std::vector<std::string>{"host/cpu"});
}

TEST_CASE("a late subscriber gets messages published from then on", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over);
    REQUIRE(subscribe_to(pair, {""}));
    Inbox early(pair.second);
    pair.first.send("topic", "before");
    REQUIRE(pair.turn_until([&] { return early.receive() == 1; }));

    Subscriber latecomer(pair.reactor, {});
    latecomer.subscribe("topic");
    latecomer.connect(pair.endpoint);
    REQUIRE(pair.turn_until([&] { return pair.first.totals().subscriptions == 2; }));
    Inbox late(latecomer);
    pair.first.send("topic", "after");
    CHECK(pair.turn_until([&] { return early.receive() == 2 && late.receive() == 1; }));
    CHECK(late.messages.at(0) == Frames{"topic", "after"});
}

TEST_CASE("a subscriber reconnects to a restarted publisher with all its subscriptions", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    constexpr std::size_t count = 1'500;
    Bench bench;
    const Endpoint endpoint = over.known(bench.scratch);
    SocketOptions impatient;
    impatient.reconnect_first = std::chrono::milliseconds(5);
    Subscriber subscriber(bench.reactor, impatient);
    subscriber.connect(endpoint);
    for (std::size_t number = 0; number < count; ++number) {
        subscriber.subscribe(std::to_string(number) + '/');
    }
    for (int life = 0; life < 3; ++life) {
        CAPTURE(life);
        Publisher publisher(bench.reactor, on_threads(over));
        publisher.bind(endpoint);
        REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == count; }));
        publisher.send("0/", "payload");
        publisher.send("other", "payload");
        publisher.send(std::to_string(count - 1) + "/x", std::to_string(life));
        Inbox inbox(subscriber);
        REQUIRE(bench.turn_until([&] { return inbox.receive() == 2; }));
        CHECK(inbox.messages.at(1).at(1) == std::to_string(life));
    }
    CHECK(subscriber.totals().connections_made == 3);
}

TEST_CASE("subscriptions of a subscriber that has disconnected are forgotten", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over);
    REQUIRE(subscribe_to(pair, {"a", "b", "c"}));
    {
        Subscriber other(pair.reactor, {});
        other.subscribe("a");
        other.subscribe("d");
        other.connect(pair.endpoint);
        REQUIRE(pair.turn_until([&] { return pair.first.totals().subscriptions == 5; }));
        CHECK(pair.first.wanted(pair.first.intern("d")));
    }
    REQUIRE(pair.turn_until([&] { return pair.first.totals().subscriptions == 3; }));
    CHECK(pair.first.wanted(pair.first.intern("a")));
    CHECK_FALSE(pair.first.wanted(pair.first.intern("d")));
}

TEST_CASE("the monitor reports subscriptions and cancellations of a subscriber", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over);
    MonitorLog events;
    pair.first.set_monitor(events.handler());
    REQUIRE(subscribe_to(pair, {"prefix"}));
    CHECK(events.detail(MonitorEventKind::subscribed) == "prefix");
    const std::vector<PeerStatus> subscribers = pair.first.subscribers();
    CHECK(subscribers.at(0).subscriptions == std::vector<std::string>{"prefix"});
    CHECK(subscribers.at(0).subscriptions_count == 1);
    pair.second.unsubscribe("prefix");
    REQUIRE(pair.turn_until([&] { return events.count(MonitorEventKind::unsubscribed) == 1; }));
    CHECK(events.detail(MonitorEventKind::unsubscribed) == "prefix");
    pair.first.set_monitor({});
}
