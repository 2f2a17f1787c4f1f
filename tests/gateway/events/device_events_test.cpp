#include "events/device_events.hpp"

#include "events/event_text.hpp"
#include "support/catch.hpp"

#include <memory>
#include <string>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

std::string line_of(const DeviceNews& news) {
    return event_line({1, 0, std::make_shared<const Event>(to_event(news))}).text();
}

}  // namespace

TEST_CASE("a transition of a device is one line with all its fields", "[gateway][events]") {
    CHECK(line_of({.transition = DeviceTransition::failed, .device = "plc", .why = "no \"answer\""}) ==
          R"(device failed device=plc reason="no \"answer\"")");
    CHECK(line_of({.transition = DeviceTransition::recovered,
                   .device = "plc",
                   .outage = 62'400ms,
                   .reads_failed = 7,
                   .samples_missed = 40}) == "device recovered device=plc after_s=62 reads_failed=7 samples_missed=40");
    CHECK(line_of({.transition = DeviceTransition::recovered, .device = "plc", .outage = 350ms, .reads_failed = 1}) ==
          "device recovered device=plc after_s=0.35 reads_failed=1 samples_missed=0");
    CHECK(line_of({.transition = DeviceTransition::breaker_opened,
                   .device = "plc",
                   .why = "timeout",
                   .reads_failed = 3,
                   .retry_after = 1'100ms}) ==
          R"(breaker opened device=plc retry_ms=1100 reads_failed=3 reason="timeout")");
    CHECK(line_of({.transition = DeviceTransition::breaker_closed, .device = "plc"}) == "breaker closed device=plc");
    CHECK(line_of({.transition = DeviceTransition::stopped, .device = "plc"}) == "device stopped device=plc");
}

TEST_CASE("the line of an event names its channel and the number of suppressed events before it", "[gateway][events]") {
    const Event event{
        .device = "flow", .channel = "temp", .kind = EventKind::alarm_raised, .fields = LogFields().add("value", 95)};
    CHECK(event_line({1, 3, std::make_shared<const Event>(event)}).text() ==
          "alarm raised device=flow channel=temp value=95 suppressed=3");
}
