#include "core/sockets/socket_bench.hpp"

#include <algorithm>

using namespace telegate;
using namespace telegate::test;

namespace {

/// A bound subscriber for publishers of raw bytes.
class SubscriberBench : public Bench {
  public:
    explicit SubscriberBench(SocketOptions options = {}, Transport transport = Transport::ipc)
        : subscriber(reactor, std::move(options)), inbox(subscriber) {
        subscriber.set_monitor(events.handler());
        endpoint = subscriber.bind(fresh_endpoint(transport, scratch.path()));
    }

    RawSession publisher(unsigned minor = 1, std::string_view type = "PUB", int receive_buffer_bytes = 0) {
        return {*this, endpoint, greeting(minor) + ready(type), hello_of("SUB"), receive_buffer_bytes};
    }
    bool reads(RawSession& peer, const std::string& expected) {
        return turn_until([&] { return peer.read() == expected; });
    }

    MonitorLog events;
    Subscriber subscriber;
    Inbox<Subscriber> inbox;
    Endpoint endpoint;
};

std::string prefix_number(std::size_t number) {
    return "prefix-" + std::to_string(number);
}

}  // namespace

TEST_CASE("a prefix subscribed twice is sent once and ended by one cancel", "[core][sockets]") {
    SubscriberBench bench;
    RawSession peer = bench.publisher();
    bench.subscriber.subscribe("a");
    bench.subscriber.subscribe("a");
    bench.subscriber.subscribe("b");
    CHECK(bench.reads(peer, subscribe("a") + subscribe("b")));
    CHECK(bench.subscriber.totals().subscriptions == 2);
    bench.subscriber.unsubscribe("a");
    bench.subscriber.unsubscribe("a");
    bench.subscriber.unsubscribe("never");
    bench.subscriber.unsubscribe("b");
    CHECK(bench.reads(peer, subscribe("a") + subscribe("b") + cancel("a") + cancel("b")));
    CHECK(bench.subscriber.totals().subscriptions == 0);
}

TEST_CASE("a ZMTP 3.0 publisher gets subscriptions as messages and a later one as commands", "[core][sockets]") {
    const std::string prefix = GENERATE(as<std::string>(), "", "a", std::string("\0\xFF", 2), std::string(253, 'x'),
                                        std::string(254, 'x'), std::string(255, 'x'), std::string(256, 'x'));
    CAPTURE(prefix.size());
    SubscriberBench bench;
    bench.subscriber.subscribe(prefix);
    RawSession old_one = bench.publisher(0);
    RawSession new_one = bench.publisher(1);
    CHECK(bench.reads(old_one, subscribe_3_0(prefix)));
    CHECK(bench.reads(new_one, subscribe(prefix)));
    bench.subscriber.unsubscribe(prefix);
    CHECK(bench.reads(old_one, subscribe_3_0(prefix) + cancel_3_0(prefix)));
    CHECK(bench.reads(new_one, subscribe(prefix) + cancel(prefix)));
}

TEST_CASE("a subscriber accepts PUB and XPUB and no other type", "[core][sockets]") {
    SubscriberBench bench;
    RawSession pub = bench.publisher(1, "PUB");
    RawSession xpub = bench.publisher(1, "XPUB");
    RawPeer other(bench.endpoint);
    other.send(greeting() + ready("DEALER", ""));
    CHECK(bench.turn_until([&] {
        other.read();
        return other.at_end();
    }));
    bench.subscriber.subscribe("t");
    pub.peer.send(message("t", "1"));
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 1; }));
    xpub.peer.send(message("t", "2"));
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 2; }));
    CHECK(bench.inbox.messages == std::vector<Frames>{{"t", "1"}, {"t", "2"}});
}

TEST_CASE("messages in flight when their prefix is unsubscribed are filtered and counted", "[core][sockets]") {
    SubscriberBench bench;
    bench.subscriber.subscribe("keep");
    bench.subscriber.subscribe("leave");
    RawSession peer = bench.publisher();
    bench.subscriber.unsubscribe("leave");
    peer.peer.send(message("leave", "1") + message("keep", "2") + message("other", "3") + frame(0, "keeper") +
                   message("kee", "4") + message("", "5") + message("leave", "6"));
    REQUIRE(bench.turn_until([&] {
        bench.inbox.receive();
        return bench.subscriber.totals().filtered == 5;
    }));
    CHECK(bench.inbox.messages == std::vector<Frames>{{"keep", "2"}, {"keeper"}});
    CHECK(bench.subscriber.totals().received == 7);

    bench.subscriber.subscribe("");
    peer.peer.send(message("other", "7") + message("", "8"));
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 4; }));
    CHECK(bench.subscriber.totals().filtered == 5);
    bench.subscriber.unsubscribe("");
    peer.peer.send(message("other", "9") + message("keep", "10"));
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 5; }));
    CHECK(bench.inbox.messages.back() == Frames{"keep", "10"});
}

TEST_CASE("only topics that begin with a prefix are delivered, whatever the lengths", "[core][sockets]") {
    const std::string name = "plant/line-7/boiler/temperature";
    const std::size_t bytes = GENERATE(range(std::size_t{1}, std::size_t{24}));
    const bool has_another = GENERATE(false, true);
    CAPTURE(bytes);
    SubscriberBench bench;
    bench.subscriber.subscribe(name.substr(0, bytes));
    if (has_another) {
        bench.subscriber.subscribe("x");
    }
    RawSession peer = bench.publisher();
    std::string wire;
    std::vector<Frames> expected;
    const auto send = [&](const std::string& topic) {
        wire += message(topic, "p");
        if (topic.starts_with(name.substr(0, bytes)) || (has_another && topic.starts_with("x"))) {
            expected.push_back({topic, "p"});
        }
    };
    for (std::size_t length = 0; length <= name.size(); ++length) {
        std::string topic = name.substr(0, length);
        send(topic);
        send(topic);
        send("x" + topic);
        for (char& letter : topic) {
            letter = static_cast<char>(letter ^ 1);
            send(topic);
            letter = static_cast<char>(letter ^ 1);
        }
        send(topic);
    }
    peer.peer.send(wire + message(name, "end"));
    expected.push_back({name, "end"});
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() >= expected.size(); }));
    CHECK(bench.inbox.messages == expected);
    CHECK(bench.subscriber.totals().filtered == bench.subscriber.totals().received - expected.size());
}

TEST_CASE("a prefix that is too long is refused and changes nothing", "[core][sockets]") {
    SubscriberBench bench;
    RawSession peer = bench.publisher();
    const std::string longest(limits::subscription_bytes_max, 'x');
    CHECK_THROWS_AS(bench.subscriber.subscribe(longest + 'x'), std::length_error);
    bench.subscriber.subscribe(longest);
    CHECK(bench.reads(peer, subscribe(longest)));
    CHECK(bench.subscriber.totals().subscriptions == 1);
}

TEST_CASE("a publisher that never reads subscriptions is closed and the others get them", "[core][sockets]") {
    SocketOptions options;
    options.backlog_bytes_max = 64 * 1024;
    SubscriberBench bench(options, GENERATE(Transport::tcp, Transport::ipc));
    RawSession deaf = bench.publisher(1, "PUB", 4096);
    const std::string prefix(1000, 'x');
    bool is_subscribed = false;
    REQUIRE(bench.turn_until([&] {
        for (int times = 0; times < 100; ++times) {
            is_subscribed ? bench.subscriber.unsubscribe(prefix) : bench.subscriber.subscribe(prefix);
            is_subscribed = !is_subscribed;
        }
        return bench.subscriber.peers().empty();
    }));
    CHECK(bench.events.detail(MonitorEventKind::disconnected) == "peer does not read subscriptions");
    CHECK(adds_up(bench.subscriber.totals()));
    bench.subscriber.subscribe("t");
    RawSession peer = bench.publisher();
    CHECK(bench.turn_until([&] { return peer.read().find(subscribe("t")) != std::string::npos; }));
}

TEST_CASE("a subscriber receives from every publisher that it is connected to, over any transport", "[core][sockets]") {
    Bench bench;
    Subscriber subscriber(bench.reactor, {});
    Inbox inbox(subscriber);
    subscriber.subscribe("t");
    std::vector<std::unique_ptr<Publisher>> publishers;
    for (const Transport transport : {Transport::tcp, Transport::ipc, Transport::inproc}) {
        publishers.push_back(std::make_unique<Publisher>(bench.reactor, PublisherOptions{}));
        subscriber.connect(publishers.back()->bind(fresh_endpoint(transport, bench.scratch.path())));
    }
    REQUIRE(bench.turn_until([&] {
        return std::all_of(publishers.begin(), publishers.end(),
                           [](const auto& publisher) { return publisher->totals().subscriptions == 1; });
    }));
    for (const auto& publisher : publishers) {
        publisher->send("t", "x");
    }
    CHECK(bench.turn_until([&] { return inbox.receive() == 3; }));
    CHECK(inbox.messages == std::vector<Frames>(3, Frames{"t", "x"}));
}

TEST_CASE("a publisher that reconnects gets all 5000 subscriptions again", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    constexpr std::size_t count = 5'000;
    Bench bench;
    const Endpoint endpoint = known_endpoint(transport, bench.scratch);
    CAPTURE(to_string(endpoint));
    Subscriber subscriber(bench.reactor, impatient());
    Inbox inbox(subscriber);
    for (std::size_t number = 0; number < count; ++number) {
        subscriber.subscribe(prefix_number(number));
    }
    subscriber.connect(endpoint);  // before there is a publisher
    for (std::size_t life = 1; life <= 3; ++life) {
        Publisher publisher(bench.reactor, {});
        publisher.bind(endpoint);
        REQUIRE(bench.turn_until([&] {
            inbox.receive();
            return publisher.totals().subscriptions == count;
        }));
        for (std::size_t number = 0; number < count; ++number) {
            publisher.send(prefix_number(number), "x");
        }
        REQUIRE(bench.turn_until([&] { return inbox.receive() == life * count; }));
    }
    CHECK(inbox.messages.back() == Frames{prefix_number(count - 1), "x"});
}

TEST_CASE("a subscription made while a publisher is away is sent when it reconnects", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    Bench bench;
    const Endpoint endpoint = known_endpoint(transport, bench.scratch);
    Subscriber subscriber(bench.reactor, impatient());
    Inbox inbox(subscriber);
    subscriber.subscribe("old");
    subscriber.connect(endpoint);
    {
        Publisher publisher(bench.reactor, {});
        publisher.bind(endpoint);
        REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 1; }));
    }
    REQUIRE(bench.turn_until([&] { return inbox.receive() == 0 && subscriber.peers().empty(); }));
    subscriber.unsubscribe("old");
    subscriber.subscribe("new");
    Publisher publisher(bench.reactor, {});
    publisher.bind(endpoint);
    REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 1; }));
    publisher.send("old", "1");
    publisher.send("new", "2");
    REQUIRE(bench.turn_until([&] { return inbox.receive() == 1; }));
    CHECK(inbox.messages == std::vector<Frames>{{"new", "2"}});
}

TEST_CASE("no subscription is lost at a publisher that does not read, however small the segments", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    constexpr std::size_t count = 100'000;
    constexpr std::size_t more = 20'000;
    PublisherOptions publisher_options;
    publisher_options.subscriptions_per_peer_max = 2 * count;
    publisher_options.subscription_bytes_per_peer_max = 100 * count;
    Bench far;
    Publisher publisher(far.reactor, publisher_options);
    SocketOptions options = impatient();
    options.segment_bytes = 256;
    options.backlog_bytes_max = 64 * 1024;
    Bench bench;
    Subscriber subscriber(bench.reactor, options);
    for (std::size_t number = 0; number < count; ++number) {
        subscriber.subscribe(prefix_number(number));
    }
    subscriber.connect(publisher.bind(fresh_endpoint(transport, far.scratch.path())));
    REQUIRE(bench.turn_until([&] {
        far.turn();
        return !subscriber.peers().empty();
    }));
    for (std::size_t number = count; number < count + more; ++number) {
        subscriber.subscribe(prefix_number(number));
        if (number % 1'000 == 0) {
            bench.turn();
        }
    }
    CHECK(bench.turn_until([&] {
        far.turn();
        return publisher.totals().subscriptions == count + more;
    }));
    CHECK(subscriber.totals().dropped == 0);
    CHECK(subscriber.totals().connections_made == 1);
}

TEST_CASE("a publisher that reads no changes is closed, and gets all subscriptions when it reads again",
          "[core][sockets]") {
    Bench far;
    Publisher publisher(far.reactor, {});
    Bench bench;
    MonitorLog events;
    SocketOptions options = impatient();
    options.segment_bytes = 256;
    options.backlog_bytes_max = 64 * 1024;
    Subscriber subscriber(bench.reactor, options);
    subscriber.set_monitor(events.handler());
    subscriber.subscribe("kept");
    subscriber.connect(publisher.bind(fresh_endpoint(Transport::ipc, far.scratch.path())));
    REQUIRE(bench.turn_until([&] {
        far.turn();
        return publisher.totals().subscriptions == 1;
    }));
    const std::string prefix(1'000, 'x');
    REQUIRE(bench.turn_until([&] {
        subscriber.subscribe(prefix);
        subscriber.unsubscribe(prefix);
        return events.count(MonitorEventKind::disconnected) == 1;
    }));
    CHECK(events.detail(MonitorEventKind::disconnected) == "peer does not read subscriptions");
    CHECK(events.count(MonitorEventKind::dropped) > 0);
    subscriber.subscribe("new");
    CHECK(bench.turn_until([&] {
        far.turn();
        return subscriber.peers().size() == 1 && publisher.subscribers().size() == 1 &&
               publisher.totals().subscriptions == 2;
    }));
    CHECK(adds_up(subscriber.totals()));
}

TEST_CASE("a bound subscriber receives from publishers that connect", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    SubscriberBench bench({}, transport);
    bench.subscriber.subscribe("");
    Publisher one(bench.reactor, {});
    Publisher two(bench.reactor, {});
    one.connect(bench.endpoint);
    two.connect(bench.endpoint);
    REQUIRE(bench.turn_until([&] { return one.totals().subscriptions + two.totals().subscriptions == 2; }));
    one.send("t", "1");
    two.send("t", "2");
    CHECK(bench.turn_until([&] { return bench.inbox.receive() == 2; }));
}

TEST_CASE("a closed subscriber delivers nothing more and its publishers see the end", "[core][sockets]") {
    SubscriberBench bench;
    bench.subscriber.subscribe("");
    RawSession peer = bench.publisher();
    RawPeer silent(bench.endpoint);
    peer.peer.send(message("t", "1"));
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 1; }));
    peer.peer.send(message("t", "2"));
    bench.turn();
    bench.subscriber.close();
    CHECK(bench.inbox.receive() == 1);
    CHECK(bench.subscriber.peers().empty());
    CHECK(bench.subscriber.endpoints().empty());
    CHECK(bench.turn_until([&] {
        peer.read();
        silent.read();
        return peer.peer.at_end() && silent.at_end();
    }));
    bench.subscriber.subscribe("more");
    bench.subscriber.close();
    CHECK_FALSE(bench.inbox.receive() == 2);
}

TEST_CASE("a subscriber on one thread receives everything from a publisher on another", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::inproc, Transport::tcp);
    constexpr std::size_t count = 20'000;
    const ScratchDir scratch;
    const Endpoint endpoint = known_endpoint(transport, scratch);
    std::atomic<std::size_t> received{0};
    std::atomic<bool> in_order{true};
    MessageBatch batch;
    const SocketThread<Subscriber> listener(impatient(), [&](Subscriber& subscriber) {
        subscriber.subscribe("t");
        subscriber.connect(endpoint);
        subscriber.set_on_readable([&] {
            while (subscriber.receive(batch)) {
                for (const Message message : batch) {
                    in_order = in_order && message.text(1) == std::to_string(received++);
                }
            }
        });
    });
    Bench bench;
    Publisher publisher(bench.reactor, {});
    publisher.bind(endpoint);
    REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 1; }));
    for (std::size_t number = 0; number < count; ++number) {
        publisher.send("t", std::to_string(number));
        if (number % 1'000 == 0) {
            bench.turn();
        }
    }
    CHECK(bench.turn_until([&] { return received == count; }));
    CHECK(in_order);
}
