#include "counted_malloc.hpp"
#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/raw_peer.hpp"
#include "support/zmtp_text.hpp"

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr const char* settings =
    "[rest]\nlisten = 127.0.0.1:0\n[publish \"tcp\"]\nendpoint = tcp://127.0.0.1:0\n"
    "[publish \"small\"]\nendpoint = tcp://127.0.0.1:0\nformat = cbor\n"
    "[publish \"numbers\"]\nendpoint = tcp://127.0.0.1:0\nformat = record\n"
    "[device \"host\"]\ndriver = host\ninterval_ms = 20\n"
    "[device \"simulated\"]\ndriver = simulated\ninterval_ms = 1\n";

/// Reads and discards what has arrived, without allocating. Returns the number of bytes.
std::size_t take(int socket) {
    static std::array<char, 65'536> buffer;
    const ssize_t bytes = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

/// Returns the allocations in the whole process while `bytes` of samples reach the subscriber.
std::uint64_t allocations_while(int socket, std::size_t bytes) {
    const std::uint64_t before = allocations();
    std::size_t taken = 0;
    REQUIRE(eventually([&] { return (taken += take(socket)) >= bytes; }));
    return allocations() - before;
}

/// Waits for a time. Samples arrive by the clock, so there is no condition to poll for.
void wait_for(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    static_cast<void>(eventually([&] { return std::chrono::steady_clock::now() >= end; }));
}

}  // namespace

TEST_CASE("nothing is allocated from driver to subscriber once every channel is known", "[gateway][allocations]") {
    GatewayFixture fixture(settings);
    const auto [endpoint, some_seconds] = GENERATE(table<std::size_t, std::size_t>(
        {{0, 3'000'000}, {1, 2'500'000}, {2, 1'500'000}}));  // bytes; about two seconds of these devices
    RawPeer peer(fixture.gateway->endpoints().at(endpoint));
    REQUIRE(peer.send(greeting() + ready("SUB") + subscribe("")));
    (void)allocations_while(peer.socket(), some_seconds);
    CHECK(allocations_while(peer.socket(), some_seconds) == 0);
}

TEST_CASE("nothing is allocated without a subscriber", "[gateway][allocations]") {
    GatewayFixture fixture(settings);
    REQUIRE(fixture.wait_for([](const StatusSnapshot& s) { return s.publisher.messages >= 1'000; }));
    const std::uint64_t messages = fixture.status().publisher.messages;
    // After the status query, samples wait in the queue for up to a second again, which needs the most memory.
    wait_for(std::chrono::milliseconds(2'500));
    const std::uint64_t before = allocations();
    wait_for(std::chrono::seconds(1));
    CHECK(allocations() - before == 0);
    CHECK(fixture.status().publisher.messages >= messages + 1'000);
}
