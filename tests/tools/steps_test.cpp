#include "steps.hpp"
#include "support/catch.hpp"

#include <signal.h>

#include <sstream>

namespace telegate::perf::test {

TEST_CASE("steps are lines with their number and the time left, unless the output is a terminal", "[tools][steps]") {
    std::ostringstream out;
    {
        Steps steps(1, {out});
        steps.expect(2);
        steps.next("one");
        steps.next("two");
    }
    CHECK(out.str().starts_with("step 1 of 2: one\nstep 2 of 2: two, about "));
    CHECK(out.str().ends_with(" s left\n"));
}

TEST_CASE("on a terminal, each step replaces the line of the previous one, and the end clears it", "[tools][steps]") {
    std::ostringstream out;
    {
        Steps steps(1, {out, true});
        steps.next("one");
        steps.next("two");
    }
    CHECK(out.str() == "step 1: one\r\x1b[Kstep 2: two\r\x1b[K");
}

TEST_CASE("an interrupt ends the measurement at the next step, with complete tables", "[tools][steps]") {
    sigset_t before{};
    ::pthread_sigmask(SIG_BLOCK, nullptr, &before);
    block_interrupts();
    std::ostringstream out;
    std::size_t complete = 0;
    Steps steps(1, {out}, [&complete](std::size_t count) { complete = count; });
    steps.next("one");
    steps.tables(3);
    ::pthread_kill(::pthread_self(), SIGINT);
    CHECK(is_interrupted());
    CHECK_THROWS_AS(steps.next("two"), Interrupted);
    CHECK(complete == 3);
    CHECK_FALSE(is_interrupted());
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace telegate::perf::test
