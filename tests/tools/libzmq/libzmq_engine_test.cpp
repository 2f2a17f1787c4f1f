#include "support/catch.hpp"
#include "tools/tap.hpp"
#include "transport/engine.hpp"
#include "transport/libzmq_link.hpp"

#include <string>

using namespace telegate;
using namespace telegate::perf;
using namespace telegate::test;

namespace {

// The number of the message stands in place of the first bytes.
const std::string text = "********sealed or not, this is what is sent";

bool shows_the_text(const Tapped& tapped) {
    return tapped.from_sender.find(text.substr(8)) != std::string::npos;
}

Tapped tapped(Pattern pattern, bool curve) {
    Workload work;
    work.pattern = pattern;
    work.curve = curve;
    return greet_over_tap<libzmq::Link>(work, text, libzmq::Setup{}, libzmq::make_keys(work));
}

}  // namespace

TEST_CASE("libzmq with CURVE sends nothing that can be read", "[tools][curve]") {
    const Tapped sealed = tapped(GENERATE(Pattern::pubsub, Pattern::router), true);
    CHECK(sealed.has_arrived);
    CHECK(mechanism_in(sealed.from_sender) == "CURVE");
    CHECK(mechanism_in(sealed.from_receiver) == "CURVE");
    CHECK_FALSE(shows_the_text(sealed));
}

TEST_CASE("libzmq without CURVE sends what can be read", "[tools][curve]") {
    const Tapped open = tapped(GENERATE(Pattern::pubsub, Pattern::router), false);
    CHECK(mechanism_in(open.from_sender) == "NULL");
    CHECK(shows_the_text(open));
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
