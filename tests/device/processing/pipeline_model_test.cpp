#include "device/nanoseconds.hpp"
#include "slow_model.hpp"
#include "support/catch.hpp"

#include <random>

using namespace telegate;
using namespace telegate::test;
using processing::ChannelPipeline;
using processing::Outcome;
using processing::Reading;

namespace {

/// Generates random processing and readings.
class Dice {
  public:
    explicit Dice(unsigned seed) : random_(seed) {}

    bool once_in(unsigned count) { return random_() % count == 0; }
    double number(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
    std::int64_t whole(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }
    Duration ms(std::int64_t low, std::int64_t high) { return std::chrono::milliseconds(whole(low, high)); }

    /// Each stage is used in every second plan.
    ChannelProcessing processing() {
        ChannelProcessing how;
        how.scale = once_in(2) ? number(-2.0, 2.0) : 1.0;
        how.offset = once_in(2) ? number(-5.0, 5.0) : 0.0;
        if (once_in(2)) {
            how.valid_min = number(-25.0, -10.0);
        }
        if (once_in(2)) {
            how.valid_max = number(10.0, 25.0);
        }
        how.out_of_range = once_in(2) ? OutOfRange::drop : OutOfRange::uncertain;
        how.deadband = once_in(2) ? number(0.1, 3.0) : 0.0;
        how.deadband_percent = once_in(3) ? number(1.0, 30.0) : 0.0;
        how.send_interval_max = once_in(2) ? ms(50, 500) : Duration(0);
        how.send_interval_min = once_in(3) ? ms(20, 200) : Duration(0);
        how.derive = static_cast<Derive>(once_in(2) ? 0 : whole(1, 2));
        how.window = once_in(2) ? ms(50, 400) : Duration(0);
        how.window_raw = once_in(2);
        if (once_in(2)) {
            how.alarm_high = number(5.0, 20.0);
            how.alarm_low = once_in(2) ? std::optional(number(-20.0, 0.0)) : std::nullopt;
            how.alarm_hysteresis = number(0.0, 4.0);
            how.alarm_delay = once_in(2) ? ms(1, 100) : Duration(0);
            how.alarm_clear_delay = once_in(2) ? ms(1, 100) : Duration(0);
        }
        return how;
    }

    Reading reading() {
        now_ms_ += once_in(20) ? whole(100, 1'000) : whole(1, 30);
        walk_ += number(-3.0, 3.0);
        walk_ = std::abs(walk_) > 30.0 ? 0.0 : walk_;
        Reading reading{walk_, now_ms_ * millisecond_ns};
        if (once_in(15)) {
            reading.quality = static_cast<Quality>(whole(1, 3));
        }
        if (once_in(15)) {
            reading.become_absent();
        }
        return reading;
    }
    [[nodiscard]] std::int64_t later() { return (now_ms_ += whole(1, 200)) * millisecond_ns; }

  private:
    std::mt19937 random_;
    std::int64_t now_ms_ = 1'000;
    double walk_ = 0.0;
};

void check_others(const ChannelPipeline& pipeline, const Outcome& outcome, const SlowModel::Result& expected) {
    REQUIRE(outcome.window_closed == expected.window_closed);
    if (outcome.window_closed) {
        const std::vector<double>& values = expected.window;
        REQUIRE(pipeline.window().values == values.size());
        if (!values.empty()) {
            double sum = 0.0;
            for (const double value : values) {
                sum += value;
            }
            CHECK(pipeline.window().min == Approx(*std::min_element(values.begin(), values.end())));
            CHECK(pipeline.window().max == Approx(*std::max_element(values.begin(), values.end())));
            CHECK(pipeline.window().mean == Approx(sum / static_cast<double>(values.size())).margin(1e-9));
            CHECK(pipeline.window().last == Approx(values.back()));
        }
    }
    REQUIRE(outcome.alarm_tells == expected.alarm_tells);
    if (outcome.alarm_tells) {
        REQUIRE((pipeline.alarm().quality() != Quality::bad) == expected.state.has_value());
        CHECK(pipeline.alarm().state() == expected.state.value_or(pipeline.alarm().state()));
        if (expected.state && expected.state_is_doubtful) {
            CHECK(pipeline.alarm().quality() == Quality::uncertain);
        }
    }
}

void check_sent(const Outcome& outcome, const SlowModel::Result& expected) {
    REQUIRE(outcome.suppressed == expected.suppressed);
    if (!outcome.suppressed) {
        REQUIRE(outcome.reading.has_value == expected.sent.has_value);
        CHECK(outcome.reading.quality == expected.sent.quality);
        CHECK(outcome.reading.time_ns == expected.sent.time_ns);
        if (outcome.reading.has_value) {
            CHECK(outcome.reading.value == Approx(expected.sent.value).margin(1e-9));
        }
    }
}

}  // namespace

TEST_CASE("a pipeline behaves like a slow model for random settings and readings", "[processing]") {
    const auto seed = GENERATE(range(1U, 81U));
    CAPTURE(seed);
    Dice dice(seed);
    const ChannelProcessing how = dice.processing();
    ChannelPipeline pipeline(how);
    SlowModel model(how);
    for (int step = 0; step < 300; ++step) {
        CAPTURE(step);
        if (dice.once_in(10)) {
            const std::int64_t time_ns = dice.later();
            check_others(pipeline, pipeline.advance(time_ns), model.advance(time_ns));
            continue;
        }
        const Reading reading = dice.reading();
        const Outcome outcome =
            reading.has_value ? pipeline.process(reading) : pipeline.process_absent(reading.time_ns, reading.quality);
        const SlowModel::Result expected = model.process(reading);
        check_sent(outcome, expected);
        check_others(pipeline, outcome, expected);
    }
}
