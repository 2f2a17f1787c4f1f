#include "support/catch.hpp"
#include "tools/tap.hpp"
#include "transport/engine.hpp"
#include "transport/libzmq_link.hpp"

#include <string>

using namespace telegate;
using namespace telegate::perf;
using namespace telegate::test;

namespace {

Tapped tapped(Pattern pattern, bool curve) {
    Workload work;
    work.pattern = pattern;
    work.curve = curve;
    return greet_over_tap<libzmq::Link>(work, libzmq::Setup{}, libzmq::make_keys(work));
}

}  // namespace

TEST_CASE("libzmq with CURVE sends nothing that can be read", "[tools][curve]") {
    const Tapped sealed = tapped(GENERATE(Pattern::pubsub, Pattern::router), true);
    CHECK(sealed.has_arrived);
    CHECK(mechanism_in(sealed.from_sender) == "CURVE");
    CHECK(mechanism_in(sealed.from_receiver) == "CURVE");
    CHECK_FALSE(sealed.shows_the_text());
}

TEST_CASE("libzmq without CURVE sends what can be read", "[tools][curve]") {
    const Tapped open = tapped(GENERATE(Pattern::pubsub, Pattern::router), false);
    CHECK(mechanism_in(open.from_sender) == "NULL");
    CHECK(open.shows_the_text());
}

TEST_CASE("every variant of libzmq can seal where it can send", "[tools][engine]") {
    Workload work;
    work.messages = 1'000;
    work.curve = true;
    for (const Engine& engine : libzmq_engines()) {
        CAPTURE(engine.variant);
        CHECK(engine.can(work));
        work.transport = Transport::inproc;
        CHECK_FALSE(engine.can(work));
        work.transport = Transport::tcp;
    }
}
