#include "device/sampler_harness.hpp"
#include "pipeline_bench.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <thread>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// Two channels, "a" with processing; the driver gives each one the number of the read.
struct ProcessedDevice : SamplerHarness {
    explicit ProcessedDevice(const ChannelProcessing& how) : SamplerHarness(100'000) {
        script.channels = {"a", "b"};
        plan.channels["a"] = how;
        device = sampler.add(device_options("boiler"), std::make_unique<ScriptedDriver>(script), plan);
    }
    [[nodiscard]] ChannelLedgerCounts counts_of(ChannelId channel) const { return ledger.counts_of(channel); }

    Script script;
    ProcessingPlan plan;
    DeviceId device{};
};

}  // namespace

TEST_CASE("suppressed samples are counted as sampled and filtered, for the device and the channel", "[processing]") {
    ProcessedDevice f(with_deadband(1.5));
    for (int tick = 0; tick < 10; ++tick) {
        f.step_after(1s);
    }
    const LedgerCounts counts = f.counts(f.device);
    CHECK(counts.sampled == 20);
    CHECK(counts.filtered == 5);
    CHECK(counts.queued == 15);
    CHECK(counts.balanced());
    CHECK(f.counts_of(ChannelId{0}).sampled == 10);
    CHECK(f.counts_of(ChannelId{0}).filtered == 5);
    CHECK(f.counts_of(ChannelId{0}).balanced());
    CHECK(f.counts_of(ChannelId{1}).filtered == 0);
    CHECK(f.ledger.channels_agree(1));
    CHECK(f.sampler.status(f.device).filtered_by == FilterCounts{0, 5, 0, 0});
    CHECK(f.drain().size() == 15);
}

TEST_CASE("the numbers of a channel have no gaps where samples were suppressed", "[processing]") {
    ProcessedDevice f(with_deadband(1.5));
    for (int tick = 0; tick < 6; ++tick) {
        f.step_after(1s);
    }
    std::uint64_t seq = 0;
    for (const TelemetrySample& sample : f.drain()) {
        if (sample.channel == ChannelId{0}) {
            CHECK(sample.seq == ++seq);
        }
    }
    CHECK(seq == 3);
}

TEST_CASE("counts by reason continue with another driver of the same name", "[processing]") {
    ProcessedDevice f(with_deadband(100.0));
    f.step_after(1s);
    f.step_after(1s);
    Script other;
    DeviceChange change;
    ProcessingPlan plan;
    plan.channels["a"].valid_max = 0.0;
    plan.channels["a"].out_of_range = OutOfRange::drop;
    change.set.push_back({device_options("boiler"), std::make_unique<ScriptedDriver>(other), plan});
    f.sampler.apply(*f.sampler.prepare(std::move(change)));
    f.step_after(1s);
    CHECK(f.sampler.status(f.device).filtered_by == FilterCounts{1, 1, 0, 0});
    CHECK(f.counts(f.device).filtered == 2);
}

TEST_CASE("consecutive failed readings produce one bad sample of a channel with a deadband", "[processing]") {
    ProcessedDevice f(with_deadband(100.0));
    f.step_after(1s);
    f.drain();
    f.script.answers = 0;
    f.script.fails_with = "gone";
    f.step_after(1s);
    CHECK(f.drain().size() == 2);
    f.step_after(1s);
    CHECK(f.drain().size() == 1);
    CHECK(f.counts(f.device).balanced());
}

TEST_CASE("a driver channel with the name of a derived channel is an error in prepare()", "[processing]") {
    SamplerHarness h;
    Script script;
    script.channels = {"a", "a.alarm"};
    ProcessingPlan plan;
    plan.channels["a"].alarm_high = 1.0;
    CHECK_THROWS_WITH(h.sampler.add(device_options("boiler"), std::make_unique<ScriptedDriver>(script), plan),
                      Catch::Contains("a.alarm") && Catch::Contains("boiler"));
}

TEST_CASE("a name conflict that arises after open() is reported once", "[processing]") {
    SamplerHarness h;
    Script script;
    script.on_read = [](SampleBatch& batch) {
        batch.add_channel("v.alarm", "");
        batch.add(batch.add_channel("v", ""), 5.0);
    };
    ProcessingPlan plan;
    plan.channels["v"].alarm_high = 1.0;
    const DeviceId device = h.sampler.add(device_options("boiler"), std::make_unique<ScriptedDriver>(script), plan);
    CHECK(h.sampler.status(device).last_error.empty());
    const std::string told =
        "channel \"v.alarm\" is declared by the device and by its processing settings: the later one gets no samples";
    SECTION("and reading continues") {
        h.step_after(1s);
        CHECK(h.sampler.status(device).last_error == told);
        CHECK(h.state(device) == DeviceState::measuring);
    }
    SECTION("even if that reading has failed") {
        script.fails_with = "gone";
        h.step_after(1s);
        CHECK(h.sampler.status(device).last_error == told);
        h.step_after(1s);
        CHECK(h.sampler.status(device).last_error == "gone");
    }
    SECTION("and again after a reset") {
        h.step_after(1s);
        h.command(device, DeviceCommand::reset);
        CHECK(h.sampler.status(device).last_error.empty());
        h.step_after(1s);
        CHECK(h.sampler.status(device).last_error == told);
    }
}

TEST_CASE("the ledger balances at any time while samples are suppressed", "[processing]") {
    ChannelProcessing how = with_deadband(2.0);
    how.window = 3s;
    how.aggregates = {Aggregate::mean, Aggregate::count};
    ProcessedDevice f(how);
    f.script.on_read = [](SampleBatch& batch) {
        for (int i = 0; i < 700; ++i) {
            batch.add(SampleBatch::Channel{0}, static_cast<double>(i % 13));
        }
    };
    std::atomic<bool> done{false};
    std::atomic<int> unbalanced{0};
    std::thread reader([&] {
        while (!done.load()) {
            const bool agree = f.ledger.cut(1).front().balanced() && f.counts_of(ChannelId{0}).balanced() &&
                               f.ledger.channels_agree(1);
            unbalanced += agree ? 0 : 1;
        }
    });
    for (int tick = 0; tick < 200; ++tick) {
        f.step_after(1s);
        f.drain();
    }
    done.store(true);
    reader.join();
    CHECK(unbalanced == 0);
    const LedgerCounts counts = f.counts(f.device);
    CHECK(counts.sampled > 200 * 700);
    const FilterCounts by = f.sampler.status(f.device).filtered_by;
    CHECK(counts.filtered == by[0] + by[1] + by[2] + by[3]);
    CHECK(by[static_cast<std::size_t>(FilterReason::window)] > 0);
}
