#include "core/sockets/router_bench.hpp"

#include <memory>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Sends `text` from the dealer and returns whether the router received it.
bool is_heard(RouterBench& bench, Dealer& dealer, const std::string& text) {
    REQUIRE(dealer.send({text}) == SendStatus::sent);
    return bench.turn_until([&] {
        bench.inbox.receive();
        return !bench.inbox.messages.empty() && bench.inbox.messages.back() == Frames{text};
    });
}

}  // namespace

TEST_CASE("a paused peer is not read until it is resumed, and loses nothing", "[core][sockets]") {
    RouterBench bench(GENERATE(Transport::tcp, Transport::ipc, Transport::inproc));
    const auto paused = bench.dealer("paused");
    const auto other = bench.dealer("other");
    REQUIRE(is_heard(bench, *paused, "first"));
    bench.router.pause("paused");
    bench.router.pause("paused");
    REQUIRE(paused->send({"second"}) == SendStatus::sent);
    REQUIRE(paused->send({"third"}) == SendStatus::sent);
    REQUIRE(is_heard(bench, *other, "another"));
    REQUIRE(is_heard(bench, *other, "one more"));
    CHECK(bench.inbox.messages.size() == 3);
    bench.router.resume("paused");
    REQUIRE(bench.turn_until([&] {
        bench.inbox.receive();
        return bench.inbox.messages.size() == 5;
    }));
    CHECK(bench.inbox.messages[3] == Frames{"second"});
    CHECK(bench.inbox.messages[4] == Frames{"third"});
}

TEST_CASE("a paused peer can disconnect, and a peer that takes over its identity is read", "[core][sockets]") {
    RouterBench bench(GENERATE(Transport::tcp, Transport::ipc));
    auto older = bench.dealer("same");
    REQUIRE(is_heard(bench, *older, "first"));
    bench.router.pause("same");
    REQUIRE(older->send({"unheard"}) == SendStatus::sent);
    CHECK(bench.router.knows("same"));
    SECTION("it has gone") {
        older.reset();
        REQUIRE(bench.turn_until([&] { return !bench.router.knows("same"); }));
    }
    SECTION("it is still there") {}
    const auto newer = bench.dealer("same");
    CHECK(is_heard(bench, *newer, "second"));
}

TEST_CASE("the total bytes pending for all peers are reported", "[core][sockets]") {
    SocketOptions options;
    options.backlog_bytes_max = 64 * 1024 * 1024;
    RouterBench bench(Transport::ipc, options);
    RawSession peer = bench.raw("DEALER", "slow", 4'096);
    CHECK(bench.router.backlog_bytes() == 0);
    for (int i = 0; i < 16; ++i) {
        REQUIRE(bench.router.send("slow", {std::string(1024 * 1024, 'x')}) == SendStatus::sent);
    }
    CHECK(bench.router.backlog_bytes() > 8 * 1024 * 1024);
}
