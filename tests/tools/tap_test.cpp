#include "tools/tap.hpp"
#include "support/catch.hpp"
#include "transport/telegate_link.hpp"

using namespace telegate;
using namespace telegate::perf;
using namespace telegate::test;

TEST_CASE("Telegate sends no plain text with CURVE, and plain text without", "[tools][curve]") {
    Workload work;
    work.pattern = GENERATE(Pattern::pubsub, Pattern::router);
    work.curve = GENERATE(false, true);
    const TelegateSettings settings(work);
    const Tapped tapped = work.pattern == Pattern::pubsub
                              ? greet_over_tap<PublisherSender, TelegateReceiver<Subscriber>>(work, settings)
                              : greet_over_tap<RouterSender, TelegateReceiver<Router>>(work, settings);
    CHECK(tapped.has_arrived);
    CHECK(mechanism_in(tapped.from_sender) == (work.curve ? "CURVE" : "NULL"));
    CHECK(mechanism_in(tapped.from_receiver) == (work.curve ? "CURVE" : "NULL"));
    CHECK(tapped.shows_the_text() != work.curve);
}
