#include "core/limits.hpp"
#include "counted_malloc.hpp"
#include "support/catch.hpp"
#include "support/socket_harness.hpp"
#include "support/stream_pair.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// How many messages are sent, and how often.
struct Rounds {
    std::uint64_t messages = 64;  // in each round
    int counted = 200;
    int before = 500;  // so that many segments are filled and reused before counting
};

Transport any_transport() {
    return GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
}
std::string any_payload() {
    return std::string(GENERATE(std::size_t{100}, std::size_t{1024}), 'p');
}

/// Single messages, or a burst that is handed to the kernel or the peer in the middle of an event-loop iteration.
struct Burst {
    std::size_t size;
    Rounds rounds;
};
Burst any_burst() {
    constexpr std::size_t bytes = 2 * limits::flush_bytes;
    const auto size = GENERATE(std::size_t{1024}, std::size_t{8 * 1024}, std::size_t{64 * 1024});
    const bool single = GENERATE(false, true);
    return single ? Burst{size, {1, 1000, 5000}} : Burst{size, {bytes / size, 40, 60}};
}

/// Sends a few messages and receives all resulting messages, in many rounds.
struct Line {
    Bench& bench;
    std::function<void()> send;                           // sends one message
    std::function<std::uint64_t(MessageBatch&)> receive;  // receives what has arrived; returns the number of messages
    std::uint64_t copies = 1;                             // received for one message
    Rounds rounds = {};

    bool go_round(MessageBatch& batch) const {
        for (std::uint64_t number = 0; number < rounds.messages; ++number) {
            send();
        }
        std::uint64_t received = 0;
        return bench.turn_until([&] {
            received += receive(batch);
            return received == copies * rounds.messages;
        });
    }
    /// Returns the allocations in many rounds, after many other rounds.
    [[nodiscard]] std::uint64_t allocations_in_rounds() const {
        MessageBatch batch;
        bool all = true;
        for (int round = 0; round < rounds.before; ++round) {
            all = all && go_round(batch);
        }
        const std::uint64_t before = allocations();
        for (int round = 0; round < rounds.counted; ++round) {
            all = all && go_round(batch);
        }
        const std::uint64_t after = allocations();
        REQUIRE(all);
        return after - before;
    }
};

template <class Socket>
std::uint64_t receive_from(Socket& socket, MessageBatch& batch) {
    std::uint64_t received = 0;
    while (socket.receive(batch)) {
        received += batch.size();
    }
    return received;
}
template <class Socket>
std::uint64_t receive_from(std::vector<std::unique_ptr<Socket>>& sockets, MessageBatch& batch) {
    std::uint64_t received = 0;
    for (const auto& socket : sockets) {
        received += receive_from(*socket, batch);
    }
    return received;
}

SocketOptions named(std::string identity) {
    SocketOptions options;
    options.identity = std::move(identity);
    return options;
}

void commit(Publisher& publisher, TopicId topic, const std::string& payload) {
    char* const room = publisher.prepare(topic, payload.size() + 100);
    std::copy(payload.begin(), payload.end(), room);
    publisher.commit(payload.size());
    publisher.flush();
}

/// A subscriber that connects to a publisher that already has one, receives some messages and disconnects.
void come_and_go(Bench& bench, Publisher& publisher, const Endpoint& endpoint, bool reads) {
    std::optional<Subscriber> subscriber(std::in_place, bench.reactor, SocketOptions());
    subscriber->subscribe("guest");
    subscriber->connect(endpoint);
    REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 2; }));
    constexpr std::uint64_t messages = 200;
    for (std::uint64_t number = 0; number < messages; ++number) {
        publisher.send("guest/topic", std::string(1024, 'g'));
    }
    MessageBatch batch;
    std::uint64_t received = 0;
    const bool is_done = !reads || bench.turn_until([&] {
        received += receive_from(*subscriber, batch);
        return received == messages;
    });
    REQUIRE(is_done);
    subscriber.reset();
    REQUIRE(bench.turn_until([&] { return publisher.subscribers().size() == 1; }));
    bench.turn();
}

/// A publisher whose only subscriber has subscribed to the topic.
struct Publishing : Bench {
    explicit Publishing(Transport transport) {
        subscriber.subscribe("topic");
        subscriber.connect(publisher.bind(fresh_endpoint(transport, scratch.path())));
        REQUIRE(turn_until([&] { return publisher.wanted(topic); }));
    }
    Publisher publisher{reactor, {}};
    Subscriber subscriber{reactor, {}};
    const TopicId topic = publisher.intern("topic");
};

/// A router that is connected to the receiver.
struct Routing : Bench {
    explicit Routing(Transport transport) {
        receiver.connect(router.bind(fresh_endpoint(transport, scratch.path())));
        REQUIRE(turn_until([&] { return router.peers().size() == 1; }));
    }
    Router router{reactor, {}};
    Router receiver{reactor, named("receiver")};
};

}  // namespace

TEST_CASE("publishing and receiving allocates nothing", "[core][allocations]") {
    const Transport transport = any_transport();
    const std::string payload = any_payload();
    Publishing bench(transport);
    const bool commits = GENERATE(false, true);
    const Line line{
        bench,
        [&] { commits ? commit(bench.publisher, bench.topic, payload) : bench.publisher.send(bench.topic, payload); },
        [&](MessageBatch& batch) {
            return receive_from(bench.subscriber, batch);
        }};
    CHECK(line.allocations_in_rounds() == 0);
}

TEST_CASE("publishing one message or a burst in an event-loop iteration allocates nothing", "[core][allocations]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::inproc);
    const Burst burst = any_burst();
    const std::string payload(burst.size, 'p');
    Publishing bench(transport);
    const Line line{bench, [&] { bench.publisher.send(bench.topic, payload); },
                    [&](MessageBatch& batch) { return receive_from(bench.subscriber, batch); }, 1, burst.rounds};
    CAPTURE(static_cast<int>(transport), burst.size, burst.rounds.messages);
    CHECK(line.allocations_in_rounds() == 0);
}

TEST_CASE("publishing several topics to several subscribers allocates nothing", "[core][allocations]") {
    const Transport transport = any_transport();
    const std::string payload = any_payload();
    Bench bench;
    Publisher publisher(bench.reactor, {});
    const Endpoint endpoint = publisher.bind(fresh_endpoint(transport, bench.scratch.path()));
    std::vector<std::unique_ptr<Subscriber>> subscribers;
    for (const char* const prefix : {"a", "b", ""}) {
        subscribers.push_back(std::make_unique<Subscriber>(bench.reactor, SocketOptions()));
        subscribers.back()->subscribe(prefix);
        subscribers.back()->connect(endpoint);
    }
    const std::array<TopicId, 4> topics = {publisher.intern("a/1"), publisher.intern("b/1"), publisher.intern("a/2"),
                                           publisher.intern("b/2")};  // each matches two of the three
    REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 3; }));
    std::size_t number = 0;
    const Line line{bench, [&] { publisher.send(topics[++number / 3 % topics.size()], payload); },
                    [&](MessageBatch& batch) { return receive_from(subscribers, batch); }, 2};
    CHECK(line.allocations_in_rounds() == 0);
}

TEST_CASE("sending to a peer and receiving allocates nothing", "[core][allocations]") {
    const Transport transport = any_transport();
    const std::string payload = any_payload();
    const bool has_frames = GENERATE(false, true);
    Routing bench(transport);
    const Line line{bench,
                    [&] {
                        (void)(has_frames ? bench.router.send("receiver", {"one", payload})
                                          : bench.router.send("receiver", {payload}));
                    },
                    [&](MessageBatch& batch) {
                        return receive_from(bench.receiver, batch);
                    }};
    CHECK(line.allocations_in_rounds() == 0);
}

TEST_CASE("sending a peer one message or a burst in an event-loop iteration allocates nothing", "[core][allocations]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::inproc);
    const Burst burst = any_burst();
    const std::string payload(burst.size, 'p');
    Routing bench(transport);
    const Line line{bench, [&] { (void)bench.router.send("receiver", {payload}); },
                    [&](MessageBatch& batch) { return receive_from(bench.receiver, batch); }, 1, burst.rounds};
    CAPTURE(static_cast<int>(transport), burst.size, burst.rounds.messages);
    CHECK(line.allocations_in_rounds() == 0);
}

TEST_CASE("sending to several peers in turn and receiving allocates nothing", "[core][allocations]") {
    const Transport transport = any_transport();
    const std::string payload = any_payload();
    Bench bench;
    Router router(bench.reactor, {});
    const Endpoint endpoint = router.bind(fresh_endpoint(transport, bench.scratch.path()));
    const std::array<std::string, 3> names = {"a", "one-of-12-bytes", "one with a name that is longer than others"};
    std::vector<std::unique_ptr<Dealer>> dealers;
    for (const std::string& name : names) {
        dealers.push_back(std::make_unique<Dealer>(bench.reactor, named(name)));
        dealers.back()->connect(endpoint);
    }
    REQUIRE(bench.turn_until([&] { return router.peers().size() == names.size(); }));
    std::size_t number = 0;
    const Line line{bench, [&] { (void)router.send(names[++number % names.size()], {payload}); },
                    [&](MessageBatch& batch) {
                        return receive_from(dealers, batch);
                    }};
    CHECK(line.allocations_in_rounds() == 0);
}

TEST_CASE("a dealer's requests and a router's replies allocate nothing", "[core][allocations]") {
    const Transport transport = any_transport();
    const std::string payload = any_payload();
    Bench bench;
    Router router(bench.reactor, {});
    Dealer dealer(bench.reactor, {});
    dealer.connect(router.bind(fresh_endpoint(transport, bench.scratch.path())));
    REQUIRE(bench.turn_until([&] { return dealer.peers().size() == 1; }));
    MessageBatch requests;
    const auto answer = [&](MessageBatch& answers) {
        while (router.receive(requests)) {
            for (const Message request : requests) {
                const std::array<Bytes, 1> body = {request[0]};
                (void)router.send(requests.peer(), body);
            }
        }
        return receive_from(dealer, answers);
    };
    const Line line{bench, [&] { (void)dealer.send({payload}); }, answer};
    CHECK(line.allocations_in_rounds() == 0);
}

TEST_CASE("a subscriber that connects and disconnects leaves no memory allocated", "[core][allocations]") {
    const Transport transport = any_transport();
    const bool reads = GENERATE(true, false);
    Bench bench;
    Publisher publisher(bench.reactor, {});
    const Endpoint endpoint = publisher.bind(fresh_endpoint(transport, bench.scratch.path()));
    Subscriber staying(bench.reactor, {});
    staying.subscribe("");
    staying.connect(endpoint);
    REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 1; }));
    MessageBatch batch;
    const auto alive_after = [&](int times) {
        for (int count = 0; count < times; ++count) {
            come_and_go(bench, publisher, endpoint, reads);
            (void)receive_from(staying, batch);
        }
        return allocations_alive();
    };
    const std::uint64_t before = alive_after(30);
    CHECK(alive_after(30) <= before);
}
