#include "status/unclaimed_sections.hpp"

#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// Two devices, of which "boiler" is measuring, and a clock that moves only on request.
struct Watched {
    Reactor reactor;
    ManualClock clock;
    ChannelTable channels;
    bool is_measuring = true;
    std::vector<UnclaimedSection> reported;
    UnclaimedSections sections{
        {.reactor = reactor,
         .clock = clock,
         .channels = channels,
         .is_measuring = [this](std::string_view device) { return is_measuring && device == "boiler"; },
         .on_unclaimed =
             [this](const UnclaimedSection& section) {
                 reported.push_back(section);
             }}};

    explicit Watched(const std::vector<std::string>& topics) { watch(topics); }

    void watch(const std::vector<std::string>& topics) {
        std::vector<ChannelSettings> settings;
        for (const std::string& topic : topics) {
            settings.emplace_back().name = topic;
        }
        sections.watch(settings);
    }
    ChannelId add(const std::string& channel) { return *channels.add(DeviceId{}, "boiler", channel, ""); }
    bool check_after(std::chrono::nanoseconds time) {
        clock.advance(time);
        return sections.check();
    }
};

using Topics = std::vector<std::string>;

}  // namespace

TEST_CASE("a section that no channel has claimed for a minute is reported once, with the nearest channel",
          "[gateway][channels]") {
    Watched w({"boiler/flow.temps", "boiler/flow.temp"});
    w.add("flow.temp");
    CHECK(w.check_after(59s));
    CHECK(w.sections.unclaimed().empty());
    CHECK_FALSE(w.check_after(1s));
    CHECK(w.sections.unclaimed() == Topics{"boiler/flow.temps"});
    CHECK_FALSE(w.check_after(1h));
    REQUIRE(w.reported.size() == 1);
    CHECK(w.reported[0].topic == "boiler/flow.temps");
    CHECK(w.reported[0].nearest == "boiler/flow.temp");
    CHECK(w.reported[0].others == 0);
}

TEST_CASE("a section whose channel appears late is no longer unclaimed", "[gateway][channels]") {
    Watched w({"boiler/pulses"});
    (void)w.check_after(60s);
    REQUIRE(w.reported.size() == 1);
    CHECK(w.reported[0].nearest.empty());
    const ChannelId pulses = w.add("pulses");
    CHECK(w.sections.unclaimed().empty());
    w.channels.set_current(pulses, false);  // its device has another driver now
    CHECK(w.sections.unclaimed() == Topics{"boiler/pulses"});
}

TEST_CASE("an unreadable device does not make its sections unclaimed", "[gateway][channels]") {
    Watched w({"boiler/flow", "other/flow"});
    w.is_measuring = false;
    CHECK(w.check_after(1h));
    w.is_measuring = true;
    CHECK(w.check_after(59s));
    CHECK(w.sections.unclaimed().empty());
    CHECK(w.check_after(1s));  // the other device still fails
    CHECK(w.sections.unclaimed() == Topics{"boiler/flow"});
}

TEST_CASE("after a change of settings only sections that were not unclaimed wait again", "[gateway][channels]") {
    Watched w({"boiler/a", "boiler/b"});
    const ChannelId b = w.add("b");
    (void)w.check_after(60s);
    w.channels.set_current(b, false);
    w.watch({"boiler/c", "boiler/b", "boiler/a"});
    CHECK(w.sections.unclaimed() == Topics{"boiler/a"});
    CHECK(w.check_after(59s));
    CHECK(w.sections.unclaimed() == Topics{"boiler/a"});
    CHECK_FALSE(w.check_after(1s));
    CHECK(w.sections.unclaimed() == Topics{"boiler/c", "boiler/b", "boiler/a"});
    CHECK(w.reported.size() == 3);
    w.watch({});
    CHECK(w.sections.unclaimed().empty());
}

TEST_CASE("of very many unclaimed sections some are reported by name and all are counted", "[gateway][channels]") {
    Topics topics;
    for (std::size_t i = 0; i < UnclaimedSections::reported_max + 30; ++i) {
        topics.push_back("boiler/x" + std::to_string(i));
    }
    Watched w(topics);
    (void)w.check_after(60s);
    REQUIRE(w.reported.size() == UnclaimedSections::reported_max);
    CHECK(w.reported.back().others == 30);
    CHECK(w.sections.unclaimed() == topics);
}
