#include "core/message.hpp"
#include "core/sockets/router_bench.hpp"

#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr std::chrono::milliseconds at_once{0};
constexpr std::chrono::seconds soon{10};

}  // namespace

TEST_CASE("messages are read one by one, in order, with their frames", "[core][sockets]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    RouterBench bench(transport);
    const auto dealer = bench.dealer("dealer");
    REQUIRE(bench.turn_until([&] { return bench.router.peers().size() == 1; }));
    MessageReader reader(*dealer);
    CHECK_FALSE(reader.next(at_once).has_value());
    for (int round = 0; round < 3; ++round) {
        for (int number = 0; number < 1'000; ++number) {
            REQUIRE(bench.router.send("dealer", {std::to_string(number), "rest"}) == SendStatus::sent);
        }
        for (int number = 0; number < 1'000; ++number) {
            const auto message = reader.next(soon);
            REQUIRE(message.has_value());
            REQUIRE(message->size() == 2);
            CHECK(message->text(0) == std::to_string(number));
            CHECK(message->text(1) == "rest");
        }
        CHECK_FALSE(reader.next(at_once).has_value());
    }
}

TEST_CASE("a reader reports which peer sent a message", "[core][sockets]") {
    RouterBench bench;
    const auto one = bench.dealer("one");
    const auto two = bench.dealer("two");
    REQUIRE(bench.turn_until([&] { return bench.router.peers().size() == 2; }));
    for (int number = 0; number < 3; ++number) {
        REQUIRE(one->send({"one"}) == SendStatus::sent);
        REQUIRE(two->send({"two"}) == SendStatus::sent);
    }
    MessageReader reader(bench.router);
    for (int count = 0; count < 6; ++count) {
        const auto message = reader.next(soon);
        REQUIRE(message.has_value());
        CHECK(reader.peer() == message->text(0));
    }
    CHECK_FALSE(reader.next(at_once).has_value());
}
