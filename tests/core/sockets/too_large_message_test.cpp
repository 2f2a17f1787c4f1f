#include "core/curve.hpp"
#include "core/limits.hpp"
#include "core/sockets/socket_bench.hpp"

#include <memory>
#include <numeric>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr std::size_t large_bytes = 12 * 1024 * 1024;  // more than the kernel accepts at once
constexpr std::size_t count = 100;

/// Options of a socket that connects, and of one that binds and accepts only small messages.
struct Ends {
    explicit Ends(bool has_curve) : connecting(impatient("connected")) {
        binding.message_bytes_max = 64 * 1024;
        if (has_curve) {
            const CurveKeyPair keys = make_curve_key_pair();
            binding.security = CurveServer{keys, nullptr};
            connecting.security = CurveClient{make_curve_key_pair(), keys.public_key};
        }
    }

    SocketOptions connecting;
    SocketOptions binding;
};

std::uint64_t reported_dropped(const MonitorLog& events) {
    return std::accumulate(events.entries.begin(), events.entries.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const MonitorLog::Entry& entry) {
                               return sum + (entry.kind == MonitorEventKind::dropped ? entry.count : 0);
                           });
}

/// Sends one message over the peer's limit and small ones after it; exactly the small ones arrive.
template <class Socket, class... Peer>
void check_small_ones_arrive(Bench& bench, Socket& sender, Router& receiver, const Peer&... peer) {
    MonitorLog events;
    sender.set_monitor(events.handler());
    Inbox inbox(receiver);
    Inbox at_sender(sender);  // receiving detects the end of the connection at once
    REQUIRE(sender.send(peer..., {std::string(large_bytes, 'x')}) == SendStatus::sent);
    std::vector<Frames> expected;
    for (std::size_t number = 0; number < count; ++number) {
        expected.push_back({std::to_string(number)});
        REQUIRE(sender.send(peer..., {expected.back()[0]}) == SendStatus::sent);
    }
    CHECK(bench.turn_until([&] { return at_sender.receive() == 0 && inbox.receive() >= count; }));
    CHECK(inbox.messages == expected);
    CHECK(sender.totals().sent == count);
    CHECK(sender.totals().dropped == 1);
    CHECK(adds_up(sender.totals()));
    CHECK(sender.totals().connections_made == limits::cuts_per_message_max + 1);
    CHECK(receiver.totals().violations == limits::cuts_per_message_max);
    CHECK(reported_dropped(events) == 1);
    sender.set_monitor({});
}

}  // namespace

TEST_CASE("a dealer drops a message over its peer's limit and sends those after it", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    const Ends ends(GENERATE(false, true));
    Bench bench;
    Router router(bench.reactor, ends.binding);
    Dealer dealer(bench.reactor, ends.connecting);
    dealer.connect(router.bind(fresh_endpoint(transport, bench.scratch.path())));
    check_small_ones_arrive(bench, dealer, router);
}

TEST_CASE("a router drops a message to an alias over its peer's limit and sends those after it", "[core][sockets]") {
    const Ends ends(GENERATE(false, true));
    Bench bench;
    Router receiver(bench.reactor, ends.binding);
    Router sender(bench.reactor, ends.connecting);
    sender.connect(receiver.bind(fresh_endpoint(Transport::tcp, bench.scratch.path())), "alias");
    check_small_ones_arrive(bench, sender, receiver, "alias");
}

TEST_CASE("a peer that restarts twice in the middle of a message still gets it", "[core][sockets]") {
    static_assert(limits::cuts_per_message_max > 2);
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    Ends ends(GENERATE(false, true));
    ends.binding.message_bytes_max = 2 * large_bytes;
    Bench bench;
    const Endpoint endpoint = known_endpoint(transport, bench.scratch);
    Dealer dealer(bench.reactor, ends.connecting);
    Inbox at_dealer(dealer);
    dealer.connect(endpoint);
    const std::string large(large_bytes, 'x');
    REQUIRE(dealer.send({large}) == SendStatus::sent);
    REQUIRE(dealer.send({"behind"}) == SendStatus::sent);
    for (int life = 1; life <= 2; ++life) {
        Router router(bench.reactor, ends.binding);
        router.bind(endpoint);
        REQUIRE(bench.turn_until([&] { return dealer.totals().bytes_sent > large_bytes / 100 * unsigned(life); }));
    }
    Router router(bench.reactor, ends.binding);
    Inbox inbox(router);
    router.bind(endpoint);
    CHECK(bench.turn_until([&] { return at_dealer.receive() == 0 && inbox.receive() == 2; }));
    CHECK(inbox.messages == std::vector<Frames>{{large}, {"behind"}});
    CHECK(dealer.totals().dropped == 0);
    CHECK(adds_up(dealer.totals()));
}
