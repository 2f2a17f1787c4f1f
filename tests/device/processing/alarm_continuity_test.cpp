#include "core/channel_table.hpp"
#include "device/sample_batch.hpp"
#include "processing/channel_pipeline.hpp"
#include "support/catch.hpp"
#include "support/manual_clock.hpp"
#include "support/rounds.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

enum class Interruption { none, reload, clean_restart, crash };

/// One channel whose pipeline is replaced at random, compared with a reference pipeline that is never replaced.
class ContinuityBench {
  public:
    explicit ContinuityBench(std::uint64_t seed) : random_(seed) {
        how_.alarm_high = 80.0;
        how_.alarm_low = 20.0;
        how_.alarm_hysteresis = pick(0, 20);
        how_.alarm_delay = std::chrono::milliseconds(pick(0, 4) * 10);
        how_.alarm_clear_delay = std::chrono::milliseconds(pick(0, 4) * 10);
        reference_ = std::make_unique<processing::ChannelPipeline>(how_);
        tested_ = std::make_unique<processing::ChannelPipeline>(how_);
    }

    void step() {
        interrupt(pick(0, 9) == 0 ? Interruption{pick(1, 3)} : Interruption::none);
        time_ns_ += pick(1, 20) * 1'000'000;
        const bool is_absent = pick(0, 19) == 0;
        value_ += pick(-15, 15);
        value_ = value_ < 0 ? 0 : value_ > 100 ? 100 : value_;
        for (processing::ChannelPipeline* const each : {reference_.get(), tested_.get()}) {
            (void)(is_absent ? each->process_absent(time_ns_, Quality::bad)
                             : each->process({static_cast<double>(value_), time_ns_, Quality::good}));
        }
        check();
    }

  private:
    int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }

    void interrupt(Interruption interruption) {
        if (interruption == Interruption::none) {
            return;
        }
        ChannelProcessing how = how_;
        const AlarmState before = tested_->alarm().state();
        if (interruption == Interruption::clean_restart ||
            (interruption == Interruption::crash && before != AlarmState::normal)) {
            how.alarm_before = before;
        }
        if (before == AlarmState::normal && tested_->alarm().quality() != Quality::good) {
            how.alarm_before = AlarmState::unknown;  // as from the file of alarms
        }
        auto next = std::make_unique<processing::ChannelPipeline>(how);
        if (interruption == Interruption::reload) {
            next->continue_from(*tested_);
        } else {
            restarted_ns_ = time_ns_;
        }
        tested_ = std::move(next);
    }

    void check() {
        const processing::LimitAlarm& alarm = tested_->alarm();
        const AlarmState expected = reference_->alarm().state();
        const bool is_beyond = value_ > 80 || value_ < 20;
        if (alarm.state() == AlarmState::normal && alarm.quality() == Quality::good) {
            CHECK_FALSE(is_beyond);
            CHECK(expected == AlarmState::normal);
        }
        // An alarm whose delay began before a restart is raised at most one delay after the restart.
        const bool is_settled = !restarted_ns_ || time_ns_ - *restarted_ns_ > 200'000'000;
        if (is_settled && (expected == AlarmState::high || expected == AlarmState::low)) {
            CHECK((alarm.state() != AlarmState::normal || alarm.quality() != Quality::good));
        }
        if (!restarted_ns_) {
            CHECK(alarm.state() == expected);
            CHECK(alarm.quality() == reference_->alarm().quality());
        }
    }

    std::mt19937_64 random_;
    ChannelProcessing how_;
    std::unique_ptr<processing::ChannelPipeline> reference_;
    std::unique_ptr<processing::ChannelPipeline> tested_;
    std::int64_t time_ns_ = 0;
    std::optional<std::int64_t> restarted_ns_;  // none: only reloads so far
    int value_ = 50;
};

}  // namespace

TEST_CASE("random reloads and restarts cause no false normal state and no missed high state", "[processing]") {
    constexpr std::uint64_t seeds = 2'000;
    for (std::uint64_t seed = 1; seed <= test::rounds(seeds); ++seed) {
        INFO("seed " << seed);
        ContinuityBench bench(seed);
        for (int i = 0; i < 200; ++i) {
            bench.step();
        }
    }
}

TEST_CASE(
    "a batch continues the alarms of the previous batch, even for channels that are declared "
    "later",
    "[processing]") {
    ChannelProcessing how;
    how.alarm_high = 80.0;
    how.alarm_delay = 100ms;
    how.alarm_clear_delay = 100ms;
    const test::ManualClock clock;
    ChannelTable table;
    ProcessingPlan plan;
    plan.channels["early"] = how;
    plan.channels["late"] = how;
    std::vector<std::string> states;
    const AlarmObserver observer = [&](const AlarmNews& news) {
        CHECK(news.device == "boiler");
        states.push_back(std::string(news.channel) + ' ' + std::string(to_string(news.state)));
    };
    const auto make = [&] {
        auto batch = std::make_unique<SampleBatch>(clock, table, SampleBatch::OfDevice{DeviceId{0}, "boiler"},
                                                   [](std::span<const TelemetrySample>) {});
        batch->process_with(plan, {[](const FilteredSamples&) {}, observer});
        return batch;
    };
    const auto add = [](SampleBatch& batch, std::int64_t ms, std::string_view name) {
        batch.begin(ms * 1'000'000, ms * 1'000'000);
        batch.add(batch.add_channel(name, ""), 95.0);
        batch.flush();
    };
    auto batch = make();
    batch->go_on_from({});
    for (const std::int64_t ms : {0, 100}) {
        add(*batch, ms, "early");
        add(*batch, ms, "late");
    }
    CHECK(states == std::vector<std::string>{"early unknown", "late unknown", "early high", "late high"});
    states.clear();
    for (int round = 0; round < 2; ++round) {  // the first one does not declare "late"
        auto next = make();
        (void)next->add_channel("early", "");
        next->go_on_from(batch->retire(), batch.get());
        batch = std::move(next);
        add(*batch, 110 + round * 10, "early");
    }
    add(*batch, 140, "late");
    CHECK(states.empty());
}

TEST_CASE("an alarm that was removed and added again is reported again", "[processing]") {
    ChannelProcessing with_alarm;
    with_alarm.alarm_high = 80.0;
    ChannelProcessing without;
    SECTION("in between, the channel has other stages") {
        without.deadband = 1.0;
    }
    SECTION("in between, the channel has no stages") {}
    const bool is_declared = GENERATE(true, false);
    const test::ManualClock clock;
    ChannelTable table;
    std::vector<AlarmState> states;
    const auto make = [&](const ChannelProcessing& how) {
        ProcessingPlan plan;
        plan.channels["v"] = how;
        auto batch = std::make_unique<SampleBatch>(clock, table, SampleBatch::OfDevice{DeviceId{0}, "boiler"},
                                                   [](std::span<const TelemetrySample>) {});
        batch->process_with(plan, {[](const FilteredSamples&) {},
                                   [&](const AlarmNews& news) {
                                       states.push_back(news.state);
                                   }});
        return batch;
    };
    const auto add = [](SampleBatch& batch) {
        batch.begin(0, 0);
        batch.add(batch.add_channel("v", ""), 95.0);
        batch.flush();
    };
    auto batch = make(with_alarm);
    batch->go_on_from({});
    add(*batch);
    CHECK(states == std::vector{AlarmState::high});
    for (const ChannelProcessing* const how : {&without, &with_alarm}) {
        auto next = make(*how);
        next->go_on_from(batch->retire(), batch.get());
        batch = std::move(next);
        if (how == &with_alarm || is_declared) {
            add(*batch);
        }
    }
    CHECK(states == std::vector{AlarmState::high, AlarmState::high});
}
