#include "device/sample_batch.hpp"

#include "pipeline_bench.hpp"
#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

/// Returns the samples of one channel and of the channels derived from it.
struct ShownBatch {
    explicit ShownBatch(const ChannelProcessing& how) {
        ProcessingPlan plan;
        plan.channels["temp"] = how;
        batch.process_with(plan, {[this](const FilteredSamples& told) {
                               for (const FilteredCount& each : told.channels) {
                                   filtered += each.count;
                               }
                           }});
        channel = batch.add_channel("temp", "Cel");
    }

    void begin(std::int64_t ms) { batch.begin(ms * 1'000'000, ms * 1'000'000); }
    template <class Value>
    void add(std::int64_t ms, Value value, Quality quality = Quality::good) {
        begin(ms);
        batch.add(channel, value, quality);
        batch.flush();
    }
    std::vector<TelemetrySample> samples_of(std::string_view name) {
        std::vector<TelemetrySample> found;
        for (const TelemetrySample& sample : samples) {
            if (table.at(sample.channel).channel == name) {
                found.push_back(sample);
            }
        }
        return found;
    }

    test::ManualClock clock;
    ChannelTable table;
    std::vector<TelemetrySample> samples;
    std::uint64_t filtered = 0;
    SampleBatch batch{clock, table, {DeviceId{3}, "boiler"}, [this](std::span<const TelemetrySample> portion) {
                          samples.insert(samples.end(), portion.begin(), portion.end());
                      }};
    SampleBatch::Channel channel{};
};

}  // namespace

TEST_CASE("a real number is rounded to its decimals when it is sent, half away from zero", "[processing]") {
    ChannelProcessing how;
    how.decimals = 1;
    const auto [value, sent] = GENERATE(table<double, double>({
        {11.600000381469727, 11.6},
        {0.25, 0.3},
        {-0.25, -0.3},
        {0.3, 0.3},
        {1e300, 1e300},
        {9'007'199'254'740'993.0, 9'007'199'254'740'993.0},
    }));
    ShownBatch f(how);
    f.add(0, value);
    CHECK(f.samples[0].value.real == sent);
    f.add(1, -0.01);
    CHECK_FALSE(std::signbit(f.samples[1].value.real));
    f.add(2, std::int64_t{7});
    CHECK(f.samples[2].type == ValueType::integer);
}

TEST_CASE("aggregates have the decimals of their channel, earlier stages use unrounded values", "[processing]") {
    ChannelProcessing how;
    how.decimals = 0;
    how.scale = 0.5;
    how.window = 10ms;
    how.aggregates = {Aggregate::mean, Aggregate::max};
    how.window_raw = true;
    how.alarm_high = 2.4;
    ShownBatch f(how);
    f.add(0, std::int64_t{4});
    f.add(1, std::int64_t{5});
    f.add(10, std::int64_t{0});
    CHECK(f.samples_of("temp")[1].value.real == 3.0);
    CHECK(f.samples_of("temp.alarm")[1].text() == "high");  // 2.5; not 3, because of a limit of 2.4; not 2
    CHECK(f.samples_of("temp.mean")[0].value.real == 2.0);  // 2.25
    CHECK(f.samples_of("temp.max")[0].value.real == 3.0);   // 2.5
}

TEST_CASE("a number with a text is sent as that text, another number unchanged and uncertain", "[processing]") {
    ChannelProcessing how;
    how.texts = {{0, "off"}, {1, "on"}};
    ShownBatch f(how);
    f.add(0, std::int64_t{0});
    f.add(1, true);
    f.add(2, 1.0, Quality::stale);
    f.add(3, std::int64_t{2});
    f.add(4, 0.5);
    f.add(5, std::string_view("own"));
    REQUIRE(f.samples.size() == 6);
    CHECK((f.samples[0].text() == "off" && f.samples[0].quality == Quality::good));
    CHECK((f.samples[1].text() == "on" && f.samples[1].quality == Quality::good));
    CHECK((f.samples[2].text() == "on" && f.samples[2].quality == Quality::stale));
    CHECK((f.samples[3].value.integer == 2 && f.samples[3].quality == Quality::uncertain));
    CHECK((f.samples[4].value.real == 0.5 && f.samples[4].quality == Quality::uncertain));
    CHECK((f.samples[5].text() == "own" && f.samples[5].quality == Quality::good));
    f.begin(6);
    f.batch.add_absent(f.channel);
    f.batch.flush();
    CHECK((f.samples[6].type == ValueType::none && f.samples[6].quality == Quality::bad));
}

TEST_CASE("deadband and alarm use the number of a text", "[processing]") {
    ChannelProcessing how = test::with_deadband(0.5);
    how.texts = {{0, "off"}, {1, "on"}};
    how.alarm_high = 0.5;
    ShownBatch f(how);
    f.add(0, std::int64_t{0});
    f.add(1, std::int64_t{0});
    f.add(2, std::int64_t{1});
    REQUIRE(f.samples_of("temp").size() == 2);
    CHECK(f.samples_of("temp")[1].text() == "on");
    CHECK(f.samples_of("temp.alarm").back().text() == "high");
    CHECK(f.filtered == 1);
}
