#include "support/catch.hpp"
#include "tools/tap.hpp"
#include "transport/telegate_links.hpp"

#include <array>
#include <cstddef>
#include <vector>

using namespace telegate;
using namespace telegate::perf;
using namespace telegate::test;

namespace {

template <class Link>
Tapped tapped(bool curve) {
    Workload work;
    work.curve = curve;
    return greet_over_tap<Link>(work, telegate_settings(work, 1));
}

}  // namespace

TEMPLATE_TEST_CASE("Telegate with CURVE sends no plain text", "[tools][curve]", TelegatePubSub, TelegateRouting) {
    const Tapped sealed = tapped<TestType>(true);
    CHECK(sealed.has_arrived);
    CHECK(mechanism_in(sealed.from_sender) == "CURVE");
    CHECK(mechanism_in(sealed.from_receiver) == "CURVE");
    CHECK_FALSE(sealed.shows_the_text());
}

TEMPLATE_TEST_CASE("Telegate without CURVE sends plain text", "[tools][curve]", TelegatePubSub, TelegateRouting) {
    const Tapped open = tapped<TestType>(false);
    CHECK(mechanism_in(open.from_sender) == "NULL");
    CHECK(mechanism_in(open.from_receiver) == "NULL");
    CHECK(open.shows_the_text());
}

TEST_CASE("each number of I/O threads is an engine of its own with that number in its name", "[tools][engine]") {
    const std::array<std::size_t, 2> counts{1, 2};
    const std::vector<Engine> engines = telegate_engines(counts);
    REQUIRE(engines.size() == 2);
    CHECK(engines[0].variant == "1 I/O thread");
    CHECK(engines[1].variant == "2 I/O threads");
    REQUIRE(telegate_engines({}).size() == 1);
    CHECK(telegate_engines({})[0].variant.empty());
}

TEST_CASE("the publisher has the requested number of I/O threads", "[tools][engine]") {
    const TelegateShared shared({}, telegate_settings({}, 2));
    CHECK(shared.publisher_options().io_threads == 2);
}

TEST_CASE("a run with CURVE loses nothing, including between two processes", "[tools][engine]") {
    Workload work;
    work.curve = true;
    work.messages = 1'000;
    work.pattern = GENERATE(Pattern::pubsub, Pattern::router);
    work.two_processes = GENERATE(false, true);
    CHECK(telegate_engines({})[0].run(work).seconds > 0);
}
