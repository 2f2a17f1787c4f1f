#include "peers/reconnect_pause.hpp"

#include "support/catch.hpp"

#include <set>

using telegate::ReconnectPause;
using namespace std::chrono_literals;

TEST_CASE("pauses double from the first to the longest, with up to half added", "[core][publisher][reconnect]") {
    const unsigned seed = GENERATE(1U, 2U, 3U, 4U, 5U);
    ReconnectPause pause(100ms, 1s, seed);
    for (const auto base : {100ms, 200ms, 400ms, 800ms, 1'000ms, 1'000ms}) {
        const auto taken = pause.next();
        CHECK(taken >= base);
        CHECK(taken <= base + base / 2);
    }
}

TEST_CASE("peers that are disconnected together do not reconnect together", "[core][publisher][reconnect]") {
    std::set<std::chrono::milliseconds> pauses;
    for (unsigned seed = 0; seed < 50; ++seed) {
        pauses.insert(ReconnectPause(1s, 5s, seed).next());
    }
    CHECK(pauses.size() > 25);
}

TEST_CASE("a connection that lasted longer than its pause resets the pauses", "[core][publisher][reconnect]") {
    ReconnectPause pause(100ms, 5s, 1);
    for (int failure = 0; failure < 6; ++failure) {
        (void)pause.next();
    }
    pause.stood(4s);
    CHECK(pause.next() >= 5s);
    pause.stood(5s);
    CHECK(pause.next() <= 150ms);
}

TEST_CASE("a longest pause below the first is raised to the first", "[core][publisher][reconnect]") {
    ReconnectPause pause(100ms, 10ms, 1);
    CHECK(pause.next() <= 150ms);
    CHECK(pause.next() <= 150ms);
    CHECK(pause.next() >= 100ms);
}

TEST_CASE("a pause of zero is one millisecond", "[core][publisher][reconnect]") {
    ReconnectPause pause(0ms, 0ms, 1);
    CHECK(pause.next() == 1ms);
}
