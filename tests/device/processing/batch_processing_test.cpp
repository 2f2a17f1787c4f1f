#include "device/sample_batch.hpp"

#include "device/allocation_counter.hpp"
#include "device/nanoseconds.hpp"
#include "pipeline_bench.hpp"
#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t utc_of_zero_ns = 1'700'000'000'000'000'000;

std::uint64_t total_of(const FilterCounts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

struct ProcessedBatch {
    explicit ProcessedBatch(const ChannelProcessing& how, const std::string& name = "temp") {
        ProcessingPlan plan;
        plan.channels[name] = how;
        const auto on_filtered = [this](const FilteredSamples& told) {
            std::uint64_t of_channels = 0;
            for (const FilteredCount& each : told.channels) {
                filtered_of[table.at(each.channel).channel] += each.count;
                of_channels += each.count;
            }
            CHECK(of_channels == total_of(told.by_reason));
            CHECK(of_channels <= SampleBatch::samples_max);
            for (std::size_t reason = 0; reason < filter_reasons; ++reason) {
                filtered[reason] += told.by_reason[reason];
            }
        };
        batch.process_with(plan, {on_filtered});
        channel = batch.add_channel(name, "Cel");
    }

    void begin(std::int64_t ms) { batch.begin(utc_of_zero_ns + ms * test::millisecond_ns, ms * test::millisecond_ns); }
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
    std::uint64_t count(FilterReason reason) { return filtered[static_cast<std::size_t>(reason)]; }

    test::ManualClock clock;
    ChannelTable table;
    std::vector<TelemetrySample> samples;
    FilterCounts filtered{};
    std::map<std::string, std::uint64_t, std::less<>> filtered_of;
    SampleBatch batch{clock, table, {DeviceId{3}, "boiler"}, [this](std::span<const TelemetrySample> portion) {
                          samples.insert(samples.end(), portion.begin(), portion.end());
                      }};
    SampleBatch::Channel channel{};
};

ChannelProcessing with_all_stages() {
    ChannelProcessing how = test::with_deadband(1.0);
    how.scale = 0.5;
    how.valid_max = 1'000.0;
    how.send_interval_max = 1s;
    how.send_interval_min = 2ms;
    how.derive = Derive::rate;
    how.window = 10ms;
    how.aggregates = {Aggregate::min, Aggregate::max, Aggregate::mean, Aggregate::last, Aggregate::count};
    how.window_raw = true;
    how.alarm_high = 100.0;
    how.alarm_hysteresis = 5.0;
    how.alarm_delay = 3ms;
    return how;
}

}  // namespace

TEST_CASE("an unchanged whole number stays whole, a scaled one becomes real", "[processing]") {
    ProcessedBatch plain(test::with_deadband(1.0));
    plain.add(0, std::int64_t{7});
    CHECK(plain.samples[0].type == ValueType::integer);
    CHECK(plain.samples[0].value.integer == 7);
    ChannelProcessing how;
    how.scale = 0.5;
    ProcessedBatch scaled(how);
    scaled.add(0, std::int64_t{7});
    CHECK(scaled.samples[0].type == ValueType::real);
    CHECK(scaled.samples[0].value.real == 3.5);
}

TEST_CASE("texts and booleans are sent unchanged", "[processing]") {
    ProcessedBatch f(with_all_stages());
    f.add(0, true);
    f.add(2, std::string_view("a text that is longer than the texts of samples"));
    REQUIRE(f.samples_of("temp").size() == 2);
    CHECK(f.samples_of("temp")[0].value.boolean);
    CHECK(f.samples_of("temp")[1].text() == "a text that is longer than the t");
    CHECK(f.samples_of("temp")[1].flags == sample_flag::text_truncated);
}

TEST_CASE("suppressed samples have no number and are reported at the flush, by channel and by reason", "[processing]") {
    ProcessedBatch f(test::with_deadband(1.0));
    const auto other = f.batch.add_channel("other", "");
    for (std::int64_t tick = 0; tick < 10; ++tick) {
        f.begin(tick);
        f.batch.add(f.channel, tick < 9 ? 5.0 : 50.0);
        f.batch.add(other, 5.0);
        f.batch.flush();
    }
    CHECK(f.samples_of("other").size() == 10);
    REQUIRE(f.samples_of("temp").size() == 2);
    CHECK(f.samples_of("temp")[1].seq == 2);
    CHECK(f.samples_of("temp")[1].time_utc_ns == utc_of_zero_ns + 9 * test::millisecond_ns);
    CHECK(f.count(FilterReason::deadband) == 8);
    CHECK(f.filtered_of == std::map<std::string, std::uint64_t, std::less<>>{{"temp", 8}});
}

TEST_CASE("if too many samples are suppressed in one tick, they are reported before its end", "[processing]") {
    ProcessedBatch f(test::with_deadband(1.0));
    f.begin(0);
    for (std::size_t i = 0; i < 3 * SampleBatch::samples_max + 1; ++i) {
        f.batch.add(f.channel, 5.0);
    }
    CHECK(f.count(FilterReason::deadband) == 3 * SampleBatch::samples_max);
    f.batch.flush();
    CHECK(f.samples.size() == 1);
}

TEST_CASE("each reason has its own count", "[processing]") {
    ChannelProcessing how = test::with_deadband(1.0);
    how.valid_max = 10.0;
    how.out_of_range = OutOfRange::drop;
    how.send_interval_min = 10ms;
    how.window = 100ms;
    how.aggregates = {Aggregate::last};
    ProcessedBatch f(how);
    f.add(0, 1.0);
    f.add(1, 99.0);
    f.add(2, 1.0);
    f.add(3, 1.5);
    f.add(4, 5.0);
    CHECK(f.filtered == FilterCounts{1, 2, 1, 1});
    CHECK(f.samples.empty());
}

TEST_CASE("a suppressed sample is not missing from its tick", "[processing]") {
    ProcessedBatch f(test::with_deadband(1.0));
    f.add(0, 5.0);
    f.begin(1);
    f.batch.add(f.channel, 5.0);
    f.batch.add_absent_for_missing();
    f.batch.flush();
    CHECK(f.samples.size() == 1);
    f.begin(2);
    f.batch.add_absent_for_missing();
    f.batch.flush();
    REQUIRE(f.samples.size() == 2);
    CHECK(f.samples[1].quality == Quality::bad);
}

TEST_CASE("derived channels have no absent sample when others have one", "[processing]") {
    ProcessedBatch f(with_all_stages());
    f.begin(0);
    f.batch.add_absent_for_missing();
    f.batch.flush();
    CHECK(f.samples_of("temp").size() == 1);
    CHECK(f.samples_of("temp.min").empty());
    CHECK(f.samples_of("temp.alarm").size() == 1);  // its state is unknown, which is reported
}

TEST_CASE("NaN and infinity are bad readings in processed channels too", "[processing]") {
    ProcessedBatch f(test::with_deadband(1.0));
    f.add(0, std::numeric_limits<double>::quiet_NaN());
    f.add(1, std::numeric_limits<double>::infinity());
    f.add(2, 1.0);
    REQUIRE(f.samples.size() == 2);
    CHECK(f.samples[0].type == ValueType::none);
    CHECK(f.samples[0].quality == Quality::bad);
    CHECK(f.samples[1].value.real == 1.0);
}

TEST_CASE("samples of a window carry the times of its end and precede later samples", "[processing]") {
    ChannelProcessing how;
    how.window = 100ms;
    how.aggregates = {Aggregate::mean, Aggregate::count};
    how.window_raw = true;
    ProcessedBatch f(how);
    f.add(100, 1.0);
    f.add(150, 2.0);
    f.add(230, 9.0);
    REQUIRE(f.samples.size() == 5);
    const TelemetrySample& mean = f.samples[2];
    CHECK(f.table.at(mean.channel).topic == "boiler/temp.mean");
    CHECK(f.table.at(mean.channel).unit == "Cel");
    CHECK(mean.value.real == 1.5);
    CHECK(mean.seq == 1);
    CHECK(mean.time_mono_ns == 200 * test::millisecond_ns);
    CHECK(mean.time_utc_ns == utc_of_zero_ns + 200 * test::millisecond_ns);
    CHECK(f.table.at(f.samples[3].channel).channel == "temp.count");
    CHECK(f.table.at(f.samples[3].channel).unit == "1");
    CHECK(f.samples[3].value.integer == 2);
    CHECK(f.samples[4].value.real == 9.0);
}

TEST_CASE("a window of bad readings has no values and a count of zero", "[processing]") {
    ChannelProcessing how;
    how.window = 100ms;
    how.aggregates = {Aggregate::max, Aggregate::count};
    ProcessedBatch f(how);
    f.begin(0);
    f.batch.add_absent(f.channel);
    f.begin(100);
    f.batch.flush();
    REQUIRE(f.samples.size() == 2);
    CHECK(f.samples[0].type == ValueType::none);
    CHECK(f.samples[0].quality == Quality::bad);
    CHECK(f.samples[1].value.integer == 0);
    CHECK(f.samples[1].quality == Quality::good);
}

TEST_CASE("the next tick closes a window and ends a delay even if the device sends nothing", "[processing]") {
    ProcessedBatch f(with_all_stages());
    f.add(0, 0.0);
    f.add(2, 1'000.0);  // half of the delay in two milliseconds
    CHECK(f.samples_of("temp.alarm").back().text() != "high");
    f.begin(5);
    f.batch.flush();
    CHECK(f.samples_of("temp.alarm").back().text() == "high");
    CHECK(f.samples_of("temp.last").empty());
    f.begin(10);
    f.batch.flush();
    CHECK(f.samples_of("temp.last").back().value.real == Approx(250'000.0));
}

TEST_CASE("a step of the wall clock changes only the times in samples", "[processing]") {
    const auto run = [](std::int64_t step_ns) {
        ProcessedBatch f(with_all_stages());
        for (std::int64_t ms = 0; ms < 100; ++ms) {
            f.batch.begin(utc_of_zero_ns + ms * test::millisecond_ns + (ms > 50 ? step_ns : 0),
                          ms * test::millisecond_ns);
            f.batch.add(f.channel, static_cast<double>(ms * ms % 37));
            f.batch.flush();
        }
        std::vector<std::int64_t> times;
        for (const TelemetrySample& sample : f.samples) {
            times.push_back(sample.time_mono_ns);
        }
        return std::pair(times, f.filtered);
    };
    CHECK(run(0) == run(3'600'000 * test::millisecond_ns));
    CHECK(run(0) == run(-3'600'000 * test::millisecond_ns));
}

TEST_CASE("the unit can be replaced, and for a rate it is per second", "[processing]") {
    ChannelProcessing how;
    how.unit = "K";
    ProcessedBatch named(how);
    CHECK(named.table.at(ChannelId{0}).unit == "K");
    how.unit = "";
    how.derive = Derive::rate;
    how.window = 1s;
    how.aggregates = {Aggregate::mean};
    how.alarm_high = 1.0;
    ProcessedBatch derived(how);
    CHECK(derived.table.at(ChannelId{0}).unit == "Cel/s");
    CHECK(derived.table.at(ChannelId{1}).unit == "Cel/s");
    CHECK(derived.table.at(ChannelId{2}).unit.empty());
    derived.batch.add_channel("temp", "Cel");
    CHECK(derived.batch.channels() == 3);
}

TEST_CASE("processing uses the name of the channel in its topic", "[processing]") {
    ProcessedBatch f(test::with_deadband(1.0), "core_0_load");
    const auto channel = f.batch.add_channel("Core 0/Load", "%");
    CHECK(channel == f.channel);
}

TEST_CASE("a name that both driver and processing declare is refused, in either order", "[processing]") {
    ChannelProcessing how;
    how.alarm_high = 1.0;
    SECTION("processing") {
        ProcessedBatch f(how);
        CHECK(f.batch.clash().empty());
        CHECK(f.batch.add_channel("temp.alarm", "") == SampleBatch::Channel::none);
        CHECK(f.batch.clash() == "temp.alarm");
        CHECK(f.batch.channels_refused() == 1);
    }
    SECTION("the driver") {
        ProcessedBatch f(how, "temp2");
        ProcessingPlan plan;
        plan.channels["temp"] = how;
        SampleBatch batch(f.clock, f.table, {DeviceId{4}, "other"},
                          [](std::span<const TelemetrySample> samples) { CHECK(samples.size() == 2); });
        batch.process_with(plan, {[](const FilteredSamples&) {
                           }});
        const auto own = batch.add_channel("temp.alarm", "");
        const auto channel = batch.add_channel("temp", "");
        CHECK(batch.clash() == "temp.alarm");
        batch.begin(0, 0);
        batch.add(own, 1.0);
        batch.add(channel, 1.0);
        batch.flush();
    }
}

TEST_CASE("a very long name leaves space for the suffix of its derived channels", "[processing]") {
    ChannelProcessing how;
    how.window = 1s;
    how.aggregates = {Aggregate::count};
    const std::string name(processed_name_bytes_max, 'x');
    ProcessedBatch f(how, name);
    CHECK(f.table.at(ChannelId{1}).channel == name + ".count");
}

TEST_CASE("channels that are declared during a reading are processed", "[processing]") {
    ProcessedBatch f(with_all_stages());
    f.batch.go_on_from({{ChannelId{7}, 5}});
    f.begin(0);
    f.batch.add(f.batch.add_channel("temp", ""), 1.0);
    f.batch.flush();
    CHECK(f.table.is_current(ChannelId{6}));
    const auto numbers = f.batch.retire();
    CHECK(numbers.size() == 8);
}

TEST_CASE("derived channels continue their numbers in the next batch", "[processing]") {
    ChannelProcessing how;
    how.alarm_high = 1.0;
    ProcessedBatch f(how);
    f.batch.go_on_from({{ChannelId{1}, 41}});
    f.add(0, 5.0);
    CHECK(f.samples_of("temp.alarm").back().seq == 42);
}

TEST_CASE("processing allocates nothing once its channels are declared", "[processing]") {
    const test::ManualClock clock;
    ChannelTable table;
    std::size_t sent = 0;
    std::uint64_t filtered = 0;
    SampleBatch batch(clock, table, {DeviceId{0}, "boiler"},
                      [&](std::span<const TelemetrySample> samples) { sent += samples.size(); });
    ProcessingPlan plan;
    plan.channels["temp"] = with_all_stages();
    plan.channels["level"] = test::with_deadband(5.0);
    batch.process_with(plan, {[&](const FilteredSamples& told) {
                           filtered += total_of(told.by_reason);
                       }});
    const auto temp = batch.add_channel("temp", "");
    const auto level = batch.add_channel("level", "");
    const std::uint64_t before = test::allocations();
    for (std::int64_t ms = 0; ms < 1'000; ++ms) {
        batch.begin(ms * test::millisecond_ns, ms * test::millisecond_ns);
        batch.add(temp, static_cast<double>(ms * ms % 11'000));
        batch.add(level, ms);
        batch.add_absent_for_missing();
        batch.flush();
    }
    CHECK(test::allocations() == before);
    CHECK(sent > 1'000);
    CHECK(filtered > 800);
}
