#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/scratch_dir.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr auto alarmed_device =
    "[rest]\nlisten = 127.0.0.1:0\n[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n"
    "[device \"made\"]\ndriver = simulated\ninterval_ms = 1\n";

std::string alarm_section(const std::string& more) {
    return "[channel \"made/sine\"]\n" + more;
}

AlarmState alarm_state(const GatewayFixture& fixture) {
    return fixture.alarms().state_of("made", "sine");
}

std::size_t alarm_events(const GatewayFixture& fixture, EventKind kind) {
    const std::vector<EventEntry> entries = fixture.events().after(0);
    return static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(),
                                                  [&](const EventEntry& each) { return each.event->kind == kind; }));
}

std::uint64_t seq_of(const StatusSnapshot& status, const std::string& topic) {
    const auto found = std::find_if(status.channels.begin(), status.channels.end(),
                                    [&](const ChannelStatus& each) { return each.topic == topic; });
    return found == status.channels.end() ? 0 : found->last.seq;
}

/// Waits for this many further samples of the channel.
bool samples_pass(GatewayFixture& fixture, std::uint64_t count) {
    std::uint64_t first = 0;
    return fixture.wait_for([&](const StatusSnapshot& status) {
        const std::uint64_t seq = seq_of(status, "made/sine");
        first = first == 0 ? seq : first;
        return seq >= first + count && first != 0;
    });
}

}  // namespace

TEST_CASE("a reload that changes another channel does not clear an alarm", "[gateway][alarms]") {
    const std::string ini = alarmed_device + alarm_section("alarm_high = -1000\nalarm_delay_ms = 100\n");
    GatewayFixture fixture(ini);
    REQUIRE(eventually([&] { return alarm_state(fixture) == AlarmState::high; }));
    const std::string changed = ini + "[channel \"made/ramp\"]\ndeadband = 0.5\n";
    REQUIRE_FALSE(is_refusal(fixture.change_to(parse_settings(changed, "test.ini")).outcome));
    REQUIRE(samples_pass(fixture, 20));
    CHECK(alarm_state(fixture) == AlarmState::high);
    CHECK(alarm_events(fixture, EventKind::alarm_raised) == 1);
    CHECK(alarm_events(fixture, EventKind::alarm_cleared) == 0);
}

TEST_CASE("an active alarm continues after a restart, with its acknowledgment", "[gateway][alarms]") {
    const ScratchDir folder;
    const std::string head = "state_file = " + folder.path("state.json") + '\n' + alarmed_device;
    {
        GatewayFixture fixture(head + alarm_section("alarm_high = -1000\n"));
        REQUIRE(eventually([&] { return alarm_state(fixture) == AlarmState::high; }));
        REQUIRE(fixture.alarms().acknowledge("made", "sine", {.time_utc_ns = 1, .by = "ann"}) ==
                Alarms::Acknowledging::done);
        fixture.gateway->finish();
    }
    GatewayFixture fixture(head + alarm_section("alarm_high = 1000\nalarm_clear_delay_ms = 1h\n"));
    REQUIRE(samples_pass(fixture, 20));
    CHECK(alarm_state(fixture) == AlarmState::high);
    CHECK(fixture.alarms().all().front().acknowledged->by == "ann");
    CHECK(alarm_events(fixture, EventKind::alarm_raised) == 1);
}

TEST_CASE("a reload removes an alarm that is no longer in the settings", "[gateway][alarms]") {
    GatewayFixture fixture(alarmed_device + alarm_section("alarm_high = -1000\n"));
    REQUIRE(eventually([&] { return alarm_state(fixture) == AlarmState::high; }));
    REQUIRE_FALSE(is_refusal(fixture.change_to(parse_settings(alarmed_device, "test.ini")).outcome));
    CHECK(fixture.alarms().all().empty());
}

TEST_CASE("the alarm of a stopped device keeps its state, with quality bad", "[gateway][alarms]") {
    GatewayFixture fixture(alarmed_device + alarm_section("alarm_high = -1000\n"));
    REQUIRE(eventually([&] { return alarm_state(fixture) == AlarmState::high; }));
    CHECK(fixture.alarms().all().front().quality == Quality::good);
    REQUIRE(fixture.gateway->command("made", DeviceCommand::stop));
    CHECK(fixture.alarms().all().front().state == AlarmState::high);
    CHECK(fixture.alarms().all().front().quality == Quality::bad);
}
