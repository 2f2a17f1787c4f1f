#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/scratch_dir.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr auto failing_device =
    "[rest]\nlisten = 127.0.0.1:0\n[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n"
    "[device \"made\"]\ndriver = simulated\ninterval_ms = 1\nerror_probability = 1\nerrors_before_safe = 3\n";

bool has_event(const GatewayFixture& fixture, EventKind kind, const std::string& device) {
    const std::vector<EventEntry> entries = fixture.events().after(0);
    return std::any_of(entries.begin(), entries.end(), [&](const EventEntry& each) {
        return each.event->kind == kind && each.event->device == device;
    });
}

std::string events_channel_text(const StatusSnapshot& snapshot) {
    for (const ChannelStatus& channel : snapshot.channels) {
        if (channel.topic == "gateway/events") {
            return std::string(channel.last.text());
        }
    }
    return "";
}

}  // namespace

TEST_CASE("a device that fails until it is safe adds an event for each transition", "[gateway][events]") {
    GatewayFixture fixture(failing_device);
    CHECK(eventually([&] { return has_event(fixture, EventKind::device_safe, "made"); }));
    CHECK(has_event(fixture, EventKind::gateway_started, ""));
    CHECK(has_event(fixture, EventKind::device_failed, "made"));
    CHECK(fixture.events().counts().added == 3);
}

TEST_CASE("after a restart the events of the previous run are available, including its stop", "[gateway][events]") {
    const ScratchDir folder;
    const std::string ini = "state_file = " + folder.path("state.json") + '\n' + failing_device;
    {
        GatewayFixture fixture(ini);
        REQUIRE(eventually([&] { return has_event(fixture, EventKind::device_safe, "made"); }));
        fixture.gateway->finish();
    }
    CHECK(std::filesystem::exists(folder.path("state.json.events")));
    GatewayFixture fixture(ini);
    CHECK(has_event(fixture, EventKind::device_safe, "made"));
    CHECK(has_event(fixture, EventKind::gateway_stopped, ""));
}

TEST_CASE("a device of the driver gateway publishes events as texts", "[gateway][events]") {
    GatewayFixture fixture(std::string(failing_device) + "[device \"gateway\"]\ndriver = gateway\ninterval_ms = 1\n");
    REQUIRE(fixture.wait_for(
        [](const StatusSnapshot& status) { return events_channel_text(status) == "device safe made"; }));
    fixture.events().add({.time_utc_ns = 1'700'000'000'000'000'000,
                          .device = "flow",
                          .channel = "temp",
                          .kind = EventKind::alarm_raised});
    CHECK(fixture.wait_for(
        [](const StatusSnapshot& status) { return events_channel_text(status) == "alarm raised flow/temp"; }));
    CHECK(fixture.wait_for([](const StatusSnapshot& status) {
        const auto channel = std::find_if(status.channels.begin(), status.channels.end(),
                                          [](const ChannelStatus& each) { return each.topic == "gateway/events"; });
        return channel->last.time_utc_ns == 1'700'000'000'000'000'000;
    }));
}

TEST_CASE("a device of the driver gateway added by a reload publishes only newer events", "[gateway][events]") {
    GatewayFixture fixture(failing_device);
    REQUIRE(eventually([&] { return has_event(fixture, EventKind::device_safe, "made"); }));  // the last event
    const std::string more = std::string(failing_device) + "[device \"gateway\"]\ndriver = gateway\ninterval_ms = 1\n";
    REQUIRE_FALSE(is_refusal(fixture.change_to(parse_settings(more, "test.ini")).outcome));
    fixture.events().add({.device = "flow", .kind = EventKind::device_failed});
    CHECK(fixture.wait_for(
        [](const StatusSnapshot& status) { return events_channel_text(status) == "device failed flow"; }));
}

TEST_CASE("a reload of the device gateway loses no event", "[gateway][events]") {
    const std::string device = std::string(failing_device) + "[device \"gateway\"]\ndriver = gateway\ninterval_ms = ";
    GatewayFixture fixture(device + "60000\n");
    REQUIRE(eventually([&] { return has_event(fixture, EventKind::device_safe, "made"); }));  // the last event
    fixture.events().add({.device = "flow", .kind = EventKind::device_failed});
    REQUIRE_FALSE(is_refusal(fixture.change_to(parse_settings(device + "1\n", "test.ini")).outcome));
    CHECK(fixture.wait_for([&](const StatusSnapshot& status) {  // one sample per event
        return std::any_of(status.channels.begin(), status.channels.end(), [&](const ChannelStatus& each) {
            return each.topic == "gateway/events" && each.last.seq == fixture.events().last_number();
        });
    }));
}
