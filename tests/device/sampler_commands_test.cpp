#include "device/sampler.hpp"

#include "sampler_harness.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// Brings a device to the state `wanted` with the usual steps.
void bring_to(SamplerHarness& h, Script& script, DeviceId device, DeviceState wanted) {
    script.fails_with = wanted == DeviceState::error || wanted == DeviceState::safe ? "no response" : nullptr;
    h.step();
    if (wanted == DeviceState::safe) {
        h.step_after(1s);
    }
    if (wanted == DeviceState::idle) {
        h.command(device, DeviceCommand::stop);
    }
    REQUIRE(h.state(device) == wanted);
}

}  // namespace

TEST_CASE("every command in every state has its documented effect, and repeating it has none", "[device][sampler]") {
    using S = DeviceState;
    using C = DeviceCommand;
    const auto [before, command, after, possible] = GENERATE(table<S, C, S, bool>({
        {S::idle, C::start, S::measuring, true},
        {S::idle, C::stop, S::idle, true},
        {S::idle, C::reset, S::idle, true},
        {S::measuring, C::start, S::measuring, true},
        {S::measuring, C::stop, S::idle, true},
        {S::measuring, C::reset, S::measuring, true},
        {S::error, C::start, S::error, true},
        {S::error, C::stop, S::idle, true},
        {S::error, C::reset, S::error, true},
        {S::safe, C::start, S::safe, false},
        {S::safe, C::stop, S::safe, false},
        {S::safe, C::reset, S::idle, true},
    }));
    CAPTURE(to_string(before), static_cast<int>(command));
    SamplerHarness h;
    Script script;
    DeviceOptions options = device_options("boiler");
    options.errors_before_safe = 2;
    const DeviceId device = h.add(script, options);
    bring_to(h, script, device, before);
    for (int count = 0; count < 2; ++count) {
        const CommandResult result = h.command(device, command);
        CHECK(result.state == after);
        CHECK(result.possible == possible);
        CHECK(h.state(device) == after);
    }
}

TEST_CASE("reset resets the driver and clears the errors", "[device][sampler]") {
    SamplerHarness h;
    Script script{.fails_with = "no response"};
    DeviceOptions options = device_options("boiler");
    options.errors_before_safe = 3;
    const DeviceId device = h.add(script, options);
    h.step();
    h.step_after(1s);
    h.command(device, DeviceCommand::reset);
    CHECK(script.resets == 1);
    CHECK(h.sampler.status(device).last_error.empty());
    h.step_after(1s);
    h.step_after(1s);
    CHECK(h.state(device) == DeviceState::error);
    h.step_after(1s);
    CHECK(h.state(device) == DeviceState::safe);
}

TEST_CASE("start begins a new grid immediately and clears earlier errors", "[device][sampler]") {
    SamplerHarness h;
    Script script{.fails_with = "no response"};
    const DeviceId device = h.add(script, device_options("boiler", 10ms));
    h.step();
    h.command(device, DeviceCommand::stop);
    script.fails_with = nullptr;
    h.clock.advance(1'234'567ns);
    h.command(device, DeviceCommand::start);
    CHECK(h.sampler.status(device).last_error.empty());
    const MonoTime started = h.clock.mono_now();
    CHECK(h.step() == started + 10ms);
    CHECK(script.reads.back() == started);
    CHECK(h.sampler.status(device).ticks_missed == 0);
}

TEST_CASE("start does not affect the deadlines of a running device", "[device][sampler]") {
    SamplerHarness h;
    Script script;
    const DeviceId device = h.add(script, device_options("boiler", 10ms));
    const MonoTime due = h.step();
    h.clock.advance(3ms);
    h.command(device, DeviceCommand::start);
    CHECK(h.step() == due);
    CHECK(script.reads.size() == 1);
}

TEST_CASE("a device that is not started produces no samples until it is", "[device][sampler]") {
    SamplerHarness h;
    Script script;
    DeviceOptions options = device_options("boiler");
    options.started = false;
    const DeviceId device = h.add(script, options);
    CHECK(h.step() == MonoTime::max());
    CHECK(script.reads.empty());
    CHECK(h.state(device) == DeviceState::idle);
    h.command(device, DeviceCommand::start);
    h.step();
    CHECK(h.drain().size() == 1);
}
