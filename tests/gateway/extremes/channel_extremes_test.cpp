#include "gateway/extremes/channel_extremes.hpp"

#include "gateway/line/consumer_conformance.hpp"
#include "support/catch.hpp"

#include <memory>
#include <random>

using namespace telegate;
using namespace telegate::test;

TEST_CASE("the example consumer takes everything once, also after a reload", "[gateway][consumer]") {
    const auto make = [](ConsumerSource& source) {
        return ConsumerSubject{std::make_shared<ChannelExtremes>(source.channels), {}};
    };
    check_delivery(make);
    check_reload(make);
}

TEST_CASE("the example consumer stores the smallest and the largest number", "[gateway][consumer]") {
    ConsumerSource source;
    std::mt19937 random(5);
    ChannelExtremes extremes(source.channels);
    source.pump.feed({&extremes});
    source.capture(random, 60);
    source.pump.drain_all();
    CHECK(extremes.of(source.logged.a).smallest == 1);
    CHECK(extremes.of(source.logged.a).largest == static_cast<double>(source.captured[source.logged.a]));
}
