#include "sampler_harness.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// Applies changes to a sampler between its steps.
struct ChangeHarness : SamplerHarness {
    void set(Script& script, DeviceOptions options) {
        DeviceChange change;
        change.set.push_back({std::move(options), std::make_unique<ScriptedDriver>(script)});
        apply(std::move(change));
    }
    void adjust(DeviceOptions options) {
        DeviceChange change;
        change.adjusted.push_back(std::move(options));
        apply(std::move(change));
    }
    void remove(const std::string& name) {
        DeviceChange change;
        change.removed.push_back(name);
        apply(std::move(change));
    }
    void apply(DeviceChange change) {
        const auto prepared = sampler.prepare(std::move(change));
        sampler.apply(*prepared);
    }
    /// Returns the sequence numbers of a channel since the last call.
    std::vector<std::uint64_t> seqs(std::string_view topic) {
        std::vector<std::uint64_t> result;
        for (const TelemetrySample& sample : drain()) {
            if (channels.at(sample.channel).topic == topic) {
                result.push_back(sample.seq);
            }
        }
        return result;
    }
    std::vector<std::string> current() const {
        std::vector<std::string> topics;
        for (std::uint32_t i = 0; i < channels.size(); ++i) {
            if (channels.is_current(ChannelId{i})) {
                topics.push_back(channels.at(ChannelId{i}).topic);
            }
        }
        return topics;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const DeviceId id : sampler.devices()) {
            names.push_back(sampler.status(id).name);
        }
        return names;
    }
};

using Seqs = std::vector<std::uint64_t>;
using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("an added device is read from the next step on", "[device][change]") {
    ChangeHarness h;
    Script boiler;
    Script pump;
    h.add(boiler, device_options("boiler"));
    h.step();
    h.clock.advance(300ms);
    h.set(pump, device_options("pump", 10ms));
    h.step();
    CHECK(pump.reads == std::vector{h.clock.mono_now()});
    CHECK(h.names() == Texts{"boiler", "pump"});
    CHECK(h.counts(h.sampler.find("pump").value()).sampled == 1);
}

TEST_CASE("a change of other devices does not affect deadlines, state and numbers", "[device][change]") {
    ChangeHarness h;
    Script boiler;
    Script pump;
    Script other_pump;
    const DeviceId untouched = h.add(boiler, device_options("boiler", 10ms));
    h.add(pump, device_options("pump"));
    const MonoTime due = h.step();
    h.clock.advance(3ms);
    h.set(other_pump, device_options("pump", 20ms));
    h.remove("pump");
    h.adjust(device_options("boiler", 10ms));
    CHECK(h.step() == due);
    h.step_after(7ms);
    CHECK(h.seqs("boiler/a") == Seqs{1, 2});
    CHECK(h.sampler.status(untouched).reads == 2);
    CHECK(h.sampler.status(untouched).ticks_missed == 0);
    CHECK(boiler.resets == 0);
}

TEST_CASE("another interval keeps driver, state and numbers, and starts a new grid", "[device][change]") {
    ChangeHarness h;
    Script boiler{.fails_with = "no response"};
    const DeviceId device = h.add(boiler, device_options("boiler", 10s));
    h.step();
    h.clock.advance(1'234'567ns);
    h.adjust(device_options("boiler", 5ms));
    const MonoTime changed = h.clock.mono_now();
    CHECK(h.step() == changed + 5ms);
    CHECK(boiler.reads.back() == changed);
    CHECK(h.sampler.status(device).interval == 5ms);
    CHECK(h.state(device) == DeviceState::error);
    CHECK(h.sampler.status(device).reads_failed == 2);
    CHECK(h.sampler.status(device).ticks_missed == 0);
}

TEST_CASE("another driver continues the numbers of existing channels", "[device][change]") {
    ChangeHarness h;
    Script before{.channels = {"a", "b"}};
    Script after{.channels = {"c", "b"}};
    const DeviceId device = h.add(before, device_options("boiler", 10ms));
    h.step();
    h.step_after(10ms);
    h.drain();
    h.set(after, device_options("boiler", 10ms));
    CHECK(h.current() == Texts{"boiler/b", "boiler/c"});
    h.step_after(10ms);
    const std::vector<TelemetrySample> samples = h.drain();
    REQUIRE(samples.size() == 2);
    CHECK(samples[0].seq == 1);
    CHECK(samples[1].seq == 3);
    CHECK(h.sampler.find("boiler") == device);
    CHECK(h.sampler.status(device).channels == 2);
    CHECK(h.counts(device).sampled == 6);
}

TEST_CASE("a channel that was missing for a while continues its numbers", "[device][change]") {
    ChangeHarness h;
    Script with{.channels = {"a", "b"}};
    Script without{.channels = {"b"}};
    h.add(with, device_options("boiler", 10ms));
    h.step();
    h.set(without, device_options("boiler", 10ms));
    h.step_after(10ms);
    h.set(with, device_options("boiler", 10ms));
    h.drain();
    h.step_after(10ms);
    CHECK(h.seqs("boiler/a") == Seqs{2});
}

TEST_CASE("a channel that is declared by a later reading continues its numbers", "[device][change]") {
    ChangeHarness h;
    Script before{.channels = {"a", "plugged"}};
    Script after;
    after.on_read = [&](SampleBatch& batch) {
        batch.add(batch.add_channel("plugged", ""), 1.0);
    };
    h.add(before, device_options("boiler", 10ms));
    h.step();
    h.step_after(10ms);
    h.drain();
    h.set(after, device_options("boiler", 10ms));
    CHECK(h.current() == Texts{"boiler/a"});
    h.step_after(10ms);
    CHECK(h.seqs("boiler/plugged") == Seqs{3});
    CHECK(h.current() == Texts{"boiler/a", "boiler/plugged"});
}

TEST_CASE("a removed device produces no samples and is in no list, but its ledger stays", "[device][change]") {
    ChangeHarness h;
    Script boiler;
    Script pump;
    const DeviceId device = h.add(boiler, device_options("boiler", 10ms));
    h.add(pump, device_options("pump", 10ms));
    h.step();
    h.remove("boiler");
    h.step_after(10ms);
    CHECK(boiler.reads.size() == 1);
    CHECK(pump.reads.size() == 2);
    CHECK(h.names() == Texts{"pump"});
    CHECK(h.current() == Texts{"pump/a"});
    CHECK_FALSE(h.sampler.find("boiler"));
    CHECK(h.sampler.names() == 2);
    CHECK(h.counts(device).sampled == 1);
}

TEST_CASE("a device whose channels exceed the channel limit is refused by name", "[device][change]") {
    ChangeHarness h;
    for (std::size_t i = 0; h.channels.size() < ChannelTable::channels_max; ++i) {
        h.channels.add(DeviceId{0}, "old", std::to_string(i), "");
    }
    Script boiler;
    CHECK_THROWS_WITH(
        h.set(boiler, device_options("boiler", 10ms)),
        Catch::Contains(
            "device \"boiler\" exceeds the channel limit by 1: all devices together can declare at most 65536"));
    CHECK(h.names().empty());
}

TEST_CASE("a device does not inherit the state of a removed one", "[device][change]") {
    ChangeHarness h;
    Script boiler;
    Script pump;
    Script fan;
    h.add(boiler, device_options("boiler", 10ms));
    const DeviceId idle = h.add(pump, device_options("pump", 10ms));
    const DeviceId running = h.add(fan, device_options("fan", 10ms));
    h.sampler.command(idle, DeviceCommand::stop);
    h.remove("boiler");
    h.step();
    CHECK(h.sampler.state(idle) == DeviceState::idle);
    CHECK(h.sampler.state(running) == DeviceState::measuring);
}

TEST_CASE("a device that is added again keeps its id, numbers, counts and ledger", "[device][change]") {
    ChangeHarness h;
    Script boiler;
    const DeviceId device = h.add(boiler, device_options("boiler", 10ms));
    h.step();
    h.step_after(10ms);
    h.remove("boiler");
    h.drain();
    Script again;
    h.set(again, device_options("boiler", 10ms));
    h.step_after(1s);
    CHECK(h.seqs("boiler/a") == Seqs{3});
    CHECK(h.sampler.find("boiler") == device);
    CHECK(h.sampler.status(device).reads == 3);
    CHECK(h.counts(device).sampled == 3);
    CHECK(h.current() == Texts{"boiler/a"});
}

TEST_CASE("a device that a command stopped stays stopped with another driver", "[device][change]") {
    ChangeHarness h;
    Script boiler;
    const DeviceId device = h.add(boiler, device_options("boiler"));
    h.command(device, DeviceCommand::stop);
    h.set(boiler, device_options("boiler"));
    CHECK(h.state(device) == DeviceState::idle);
}

TEST_CASE("another driver starts a device in state safe again", "[device][change]") {
    ChangeHarness h;
    Script boiler{.fails_with = "no response"};
    DeviceOptions options = device_options("boiler");
    options.errors_before_safe = 1;
    const DeviceId device = h.add(boiler, options);
    h.step();
    REQUIRE(h.state(device) == DeviceState::safe);
    Script mended;
    h.set(mended, options);
    CHECK(h.state(device) == DeviceState::measuring);
    CHECK(h.sampler.status(device).last_error.empty());
}

TEST_CASE("a command to a removed device has no effect", "[device][change]") {
    ChangeHarness h;
    Script boiler;
    const DeviceId device = h.add(boiler, device_options("boiler"));
    h.remove("boiler");
    const auto command = GENERATE(values({DeviceCommand::start, DeviceCommand::stop, DeviceCommand::reset}));
    CHECK(h.command(device, command).state == DeviceState::idle);
    CHECK(h.step() == MonoTime::max());
    CHECK(boiler.reads.empty());
}

TEST_CASE("a new name beyond the limit is refused, an old one is not", "[device][change]") {
    ChangeHarness h;
    Script script;
    for (const char* name : {"a", "b", "c", "d"}) {
        h.set(script, device_options(name));
        h.remove(name);
    }
    CHECK_THROWS_WITH(h.set(script, device_options("e")), Catch::Contains("\"e\"") && Catch::Contains("restart"));
    h.set(script, device_options("b"));
    CHECK(h.names() == Texts{"b"});
}

TEST_CASE("a change that is not applied has no effect", "[device][change]") {
    ChangeHarness h;
    Script boiler{.channels = {"a"}};
    Script other{.channels = {"b"}};
    h.add(boiler, device_options("boiler", 10ms));
    h.step();
    DeviceChange change;
    change.set.push_back({device_options("boiler"), std::make_unique<ScriptedDriver>(other)});
    change.set.push_back({device_options("pump"), std::make_unique<ScriptedDriver>(other)});
    h.sampler.prepare(std::move(change)).reset();
    h.step_after(10ms);
    CHECK(h.seqs("boiler/a") == Seqs{1, 2});
    CHECK(h.names() == Texts{"boiler"});
}
