#include "counted_malloc.hpp"
#include "support/catch.hpp"
#include "support/socket_harness.hpp"
#include "support/stream_pair.hpp"

#include <functional>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr std::uint64_t messages_per_round = 64;
const std::string payload(100, 'p');  // so that many segments are filled before it counts

/// Sends and receives `rounds` times, a few messages each.
template <class Socket>
bool go_round(Bench& bench, Socket& receiver, MessageBatch& batch, const std::function<void()>& send, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        for (std::uint64_t number = 0; number < messages_per_round; ++number) {
            send();
        }
        std::uint64_t received = 0;
        const bool all = bench.turn_until([&] {
            while (receiver.receive(batch)) {
                received += batch.size();
            }
            return received == messages_per_round;
        });
        if (!all) {
            return false;
        }
    }
    return true;
}

/// Allocations in many rounds that come after many others.
template <class Socket>
std::uint64_t allocations_in_rounds(Bench& bench, Socket& receiver, const std::function<void()>& send) {
    constexpr int rounds = 200;
    MessageBatch batch;
    REQUIRE(go_round(bench, receiver, batch, send, rounds));
    const std::uint64_t before = allocations();
    REQUIRE(go_round(bench, receiver, batch, send, rounds));
    return allocations() - before;
}

}  // namespace

TEST_CASE("publishing and receiving allocates nothing", "[core][allocations]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    Bench bench;
    Publisher publisher(bench.reactor, {});
    Subscriber subscriber(bench.reactor, {});
    subscriber.subscribe("topic");
    subscriber.connect(publisher.bind(fresh_endpoint(transport, bench.scratch.path())));
    const TopicId topic = publisher.intern("topic");
    REQUIRE(bench.turn_until([&] { return publisher.wanted(topic); }));
    CHECK(allocations_in_rounds(bench, subscriber, [&] { publisher.send(topic, payload); }) == 0);
}

TEST_CASE("sending to a peer and receiving allocates nothing", "[core][allocations]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    Bench bench;
    Router router(bench.reactor, {});
    SocketOptions named;
    named.identity = "receiver";
    Router receiver(bench.reactor, named);
    receiver.connect(router.bind(fresh_endpoint(transport, bench.scratch.path())));
    REQUIRE(bench.turn_until([&] { return router.peers().size() == 1; }));
    CHECK(allocations_in_rounds(bench, receiver, [&] { (void)router.send("receiver", {"one", payload}); }) == 0);
}
