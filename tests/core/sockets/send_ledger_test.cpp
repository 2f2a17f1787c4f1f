#include "core/sockets/socket_bench.hpp"
#include "sockets/identity.hpp"

#include <random>

using namespace telegate;
using namespace telegate::test;

namespace {

/// A router and a raw peer that knows everything that it should be sent.
class Sending : public Bench {
  public:
    explicit Sending(SocketOptions options = {}, std::string identity = "peer")
        : router(reactor, std::move(options)),
          endpoint(router.bind(fresh_endpoint(Transport::ipc, scratch.path()))),
          name(std::move(identity)),
          peer(*this, endpoint, greeting() + ready("DEALER", name), hello_of("ROUTER")) {
        REQUIRE(turn_until([&] { return router.peers().size() == 1; }));
    }
    SendStatus send(const Frames& frames) {
        const SendStatus status = send_frames(router, frames, name);
        if (status == SendStatus::sent) {
            for (std::size_t index = 0; index < frames.size(); ++index) {
                expected += frame(index + 1 < frames.size() ? 1 : 0, frames[index]);
            }
            ++sent;
        }
        return status;
    }
    bool arrives() {
        return turn_until([&] { return peer.read() == expected; });
    }

    Router router;
    Endpoint endpoint;
    std::string name;
    RawSession peer;
    std::string expected;
    std::uint64_t sent = 0;
};

}  // namespace

TEST_CASE("a router's ledger is exact after every message", "[core][sockets]") {
    Sending bench;
    for (std::uint64_t number = 1; number <= 20; ++number) {
        CHECK(bench.send({"x"}) == SendStatus::sent);
        CHECK(bench.router.totals().matched == number);
        CHECK(bench.router.totals().pending == number);
        CHECK(bench.router.peers().at(0).backlog_bytes == number * frame(0, "x").size());
    }
    CHECK(bench.arrives());
    CHECK(bench.router.totals().sent == 20);
}

TEST_CASE("whatever the frames and the identity are, the peer gets them unchanged", "[core][sockets]") {
    const auto seed = GENERATE(range(0U, 16U));
    CAPTURE(seed);
    std::mt19937 random(seed);
    Sending bench({}, std::string(1 + seed * 3, 'i'));
    for (int number = 0; number < 400; ++number) {
        Frames frames(1 + (random() % 3 == 0 ? random() % 11 : 0));
        for (std::string& text : frames) {
            text.assign(random() % (random() % 20 == 0 ? 3'000 : 70), static_cast<char>('a' + random() % 26));
        }
        REQUIRE(bench.send(frames) == SendStatus::sent);
        switch (random() % 25) {
            case 0: bench.turn(); break;
            case 1: bench.router.flush(); break;
            case 2: CHECK(bench.router.totals().matched == bench.sent); break;
            case 3: bench.peer.peer.read(); break;
            default: break;
        }
    }
    CHECK(bench.arrives());
}

TEST_CASE("a router accepts exactly what the backlog can hold, whether or not its counts are read", "[core][sockets]") {
    SocketOptions options;
    options.backlog_bytes_max = 10'000;
    Sending bench(options);
    const bool looks = GENERATE(false, true);
    std::uint64_t taken = 0;
    while (bench.send({std::string(98, 'x')}) == SendStatus::sent) {
        ++taken;
        if (looks) {
            CHECK(bench.router.peers().at(0).backlog_bytes == 100 * taken);
        }
    }
    CHECK(taken == 100);
    CHECK(bench.arrives());
    CHECK(bench.send({"again"}) == SendStatus::sent);
}

TEST_CASE("after close no peer is known, even to a router in the middle of sending", "[core][sockets]") {
    Sending bench;
    CHECK(bench.send({"1"}) == SendStatus::sent);
    CHECK(bench.send({"2"}) == SendStatus::sent);
    bench.router.close(std::chrono::seconds(1), {});
    CHECK(bench.send({"3"}) == SendStatus::unknown_peer);
    CHECK(bench.send({"4"}) == SendStatus::unknown_peer);
    CHECK(bench.arrives());
}

TEST_CASE("a message without frames is refused, even in the middle of sending", "[core][sockets]") {
    Sending bench;
    CHECK(bench.send({"1"}) == SendStatus::sent);
    CHECK_THROWS_AS(bench.router.send("peer", {}), std::invalid_argument);
    CHECK(bench.send({"2"}) == SendStatus::sent);
    CHECK(bench.arrives());
}

TEST_CASE("a dealer continues in turn", "[core][sockets]") {
    Bench bench;
    Router one(bench.reactor, {});
    Router two(bench.reactor, {});
    Dealer dealer(bench.reactor, impatient("dealer"));
    dealer.connect(one.bind(fresh_endpoint(Transport::ipc, bench.scratch.path())));
    dealer.connect(two.bind(fresh_endpoint(Transport::ipc, bench.scratch.path())));
    Inbox at_one(one);
    Inbox at_two(two);
    for (int number = 0; number < 100; ++number) {
        CHECK(dealer.send({std::to_string(number)}) == SendStatus::sent);
    }
    CHECK(dealer.totals().matched == 100);
    REQUIRE(bench.turn_until([&] { return at_one.receive() + at_two.receive() == 100; }));
    for (std::size_t index = 0; index < 50; ++index) {
        CHECK(at_one.messages.at(index) == Frames{std::to_string(2 * index)});
        CHECK(at_two.messages.at(index) == Frames{std::to_string(2 * index + 1)});
    }
}

TEST_CASE("identities are equal if all their bytes are", "[core][sockets]") {
    for (std::size_t bytes = 1; bytes <= 40; ++bytes) {
        const std::string identity(bytes, 'i');
        CHECK(are_same(identity, std::string(bytes, 'i')));
        CHECK_FALSE(are_same(identity, std::string(bytes + 1, 'i')));
        for (std::size_t at = 0; at < bytes; ++at) {
            std::string other = identity;
            other[at] = 'j';
            CHECK_FALSE(are_same(identity, other));
        }
    }
    CHECK(are_same("", ""));
}
