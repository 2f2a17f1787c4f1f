#include "device/sample_batch.hpp"

#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t ns_per_s = 1'000'000'000;
constexpr std::int64_t start_utc_s = 1'700'000'000;  // a multiple of 100

/// A batch whose samples have times of their sender. All times are in seconds.
struct GivenBatch {
    explicit GivenBatch(const ChannelProcessing& how) {
        ProcessingPlan plan;
        plan.channels["v"] = how;
        batch.process_with(plan, {[](const FilteredSamples&) {
                           }});
        channel = batch.add_channel("v", "");
    }

    /// A reading of the device without data.
    void tick(std::int64_t now) {
        batch.begin((start_utc_s + now) * ns_per_s, now * ns_per_s);
        batch.flush();
    }
    /// Adds values that arrive together.
    void arrive(std::int64_t now, const std::vector<std::pair<double, double>>& times_and_values) {
        batch.begin((start_utc_s + now) * ns_per_s, now * ns_per_s);
        for (const auto& [time, value] : times_and_values) {
            const auto given = start_utc_s * ns_per_s + static_cast<std::int64_t>(time * 1e9);
            batch.stamp_given({given, now * ns_per_s}, now * ns_per_s);
            batch.add(channel, value);
        }
        batch.flush();
    }
    /// Adds a value without a time.
    void arrive_plain(std::int64_t now, double value) {
        batch.begin((start_utc_s + now) * ns_per_s, now * ns_per_s);
        batch.add(channel, value);
        batch.flush();
    }

    [[nodiscard]] std::vector<TelemetrySample> samples_of(std::string_view name) const {
        std::vector<TelemetrySample> found;
        for (const TelemetrySample& sample : samples) {
            if (table.at(sample.channel).channel == name) {
                found.push_back(sample);
            }
        }
        return found;
    }
    /// Returns values such as "10 -" for 10 and a bad sample.
    [[nodiscard]] std::string values(std::string_view name = "v") const {
        std::string text;
        for (const TelemetrySample& sample : samples_of(name)) {
            const bool is_real = sample.type == ValueType::real;
            const double value = is_real ? sample.value.real : static_cast<double>(sample.value.integer);
            text += text.empty() ? "" : " ";
            text += sample.quality == Quality::bad ? "-" : std::to_string(std::lround(value));
            text += sample.quality == Quality::uncertain ? "?" : "";
        }
        return text;
    }
    /// Returns the ends of windows, in seconds after the start.
    [[nodiscard]] std::vector<std::int64_t> ends() const {
        std::vector<std::int64_t> found;
        for (const TelemetrySample& sample : samples_of("v.count")) {
            found.push_back(sample.time_utc_ns / ns_per_s - start_utc_s);
        }
        return found;
    }

    test::ManualClock clock;
    ChannelTable table;
    std::vector<TelemetrySample> samples;
    SampleBatch batch{clock, table, {DeviceId{1}, "d"}, [this](std::span<const TelemetrySample> portion) {
                          samples.insert(samples.end(), portion.begin(), portion.end());
                      }};
    SampleBatch::Channel channel{};
};

ChannelProcessing counter_rate() {
    ChannelProcessing how;
    how.derive = Derive::counter_rate;
    return how;
}

ChannelProcessing counting_windows(WindowAlign align = WindowAlign::wall) {
    ChannelProcessing how;
    how.window = 10s;
    how.window_align = align;
    how.aggregates = {Aggregate::count};
    return how;
}

using Values = std::vector<std::pair<double, double>>;

/// One value per second from `first` to `last`, including both.
Values each_second(int first, int last) {
    Values values;
    for (int time = first; time <= last; ++time) {
        values.emplace_back(time, 1'000 + 10 * time);
    }
    return values;
}

}  // namespace

TEST_CASE("a rate uses the times of the sender, however the values arrive", "[processing]") {
    GivenBatch f(counter_rate());
    SECTION("together") {
        f.arrive(100, each_second(0, 4));
    }
    SECTION("one after the other, later and faster") {
        for (int time = 0; time <= 4; ++time) {
            f.arrive(100, each_second(time, time));
        }
    }
    SECTION("with pauses") {
        f.arrive(100, each_second(0, 1));
        f.tick(150);
        f.arrive(200, each_second(2, 4));
    }
    CHECK(f.values() == "- 10 10 10 10");
}

TEST_CASE("a rate between equal or earlier times of the sender is bad, and the next one is right", "[processing]") {
    GivenBatch f(counter_rate());
    f.arrive(100, {{0, 1'000}, {1, 1'010}, {1, 1'010}, {2, 1'020}, {1.5, 1'015}, {3, 1'030}});
    CHECK(f.values() == "- 10 - 10 - 10");
    f.arrive(101, {{-3'600, 1'040}, {-3'599, 1'050}});  // the clock of the sender steps back
    CHECK(f.values() == "- 10 - 10 - 10 - 10");
}

TEST_CASE("a rate restarts if times are no longer given", "[processing]") {
    GivenBatch f(counter_rate());
    f.arrive(100, each_second(0, 1));
    f.arrive_plain(101, 2'000);
    f.arrive_plain(102, 2'010);
    f.arrive(103, each_second(200, 201));
    CHECK(f.values() == "- 10 - 10 - 10");
}

TEST_CASE("a step of the gateway's clock does not change a rate of given times", "[processing]") {
    GivenBatch f(counter_rate());
    f.arrive(100, {{0, 1'000}});
    f.batch.begin((start_utc_s - 5'000) * ns_per_s, 101 * ns_per_s);
    f.batch.stamp_given({(start_utc_s + 1) * ns_per_s, 101 * ns_per_s}, 101 * ns_per_s);
    f.batch.add(f.channel, 1'010.0);
    f.batch.flush();
    CHECK(f.values() == "- 10");
}

TEST_CASE("windows contain the values whose times are in them", "[processing]") {
    const auto align = GENERATE(WindowAlign::wall, WindowAlign::monotonic);
    GivenBatch f(counting_windows(align));
    SECTION("of values that arrive together") {
        f.arrive(100, each_second(0, 30));
    }
    SECTION("of a backlog, value by value") {
        for (int time = 0; time <= 30; ++time) {
            f.arrive(100 + time / 20, each_second(time, time));
        }
    }
    SECTION("of batches that end within a window") {
        for (int batch = 0; batch < 4; ++batch) {
            f.arrive(8 * (batch + 1), each_second(8 * batch, 8 * batch + 7));
            for (int later = 1; later < 8; ++later) {
                f.tick(8 * (batch + 1) + later);
            }
        }
    }
    CHECK(f.values("v.count") == "10 10 10");
    CHECK(f.ends() == std::vector<std::int64_t>{10, 20, 30});
}

TEST_CASE("batches at intervals longer than a window give whole windows", "[processing]") {
    GivenBatch f(counting_windows());
    f.arrive(65, each_second(0, 64));
    f.arrive(130, each_second(65, 129));  // from now on, the interval is known
    for (int now = 131; now < 195; ++now) {
        f.tick(now);
    }
    f.arrive(195, each_second(130, 194));
    for (int now = 196; now < 260; ++now) {
        f.tick(now);
    }
    f.arrive(260, each_second(195, 260));
    std::string expected = "10 10 10 10 10 10 5 15";
    for (int window = 80; window < 260; window += 10) {
        expected += " 10";
    }
    CHECK(f.values("v.count") == expected);
}

TEST_CASE("a window of given times is closed after a while without values", "[processing]") {
    GivenBatch f(counting_windows());
    f.arrive(1'000, each_second(0, 4));
    f.tick(1'009);
    CHECK(f.samples.empty());
    f.tick(1'010);
    CHECK(f.values("v.count") == "5");
    CHECK(f.ends() == std::vector<std::int64_t>{10});
    CHECK(f.samples.back().time_mono_ns == 1'010 * ns_per_s);
}

TEST_CASE("times at the limits of their type overflow nothing", "[processing]") {  // detected by UBSan
    using Limits = std::numeric_limits<std::int64_t>;
    const auto align = GENERATE(WindowAlign::wall, WindowAlign::monotonic);
    const auto [first, second] =
        GENERATE(std::pair(Limits::min(), Limits::max()), std::pair(Limits::max(), Limits::min()));
    GivenBatch f(counting_windows(align));
    for (const std::int64_t given : {first, second}) {
        f.batch.begin(start_utc_s * ns_per_s, 100 * ns_per_s);
        f.batch.stamp_given({given, 100 * ns_per_s}, 100 * ns_per_s);
        f.batch.add(f.channel, 1.0);
        f.batch.flush();
    }
    f.tick(200);
    CHECK_FALSE(f.values("v.count").empty());
}

TEST_CASE("a value that is too late for its window makes another one uncertain", "[processing]") {
    GivenBatch f(counting_windows());
    f.arrive(100, each_second(0, 10));
    f.arrive(100, {{9.5, 1.0}});
    f.arrive(100, each_second(11, 20));
    CHECK(f.values("v.count") == "10 11");
    SECTION("and so does a step back of the sender, which ends the window") {
        f.arrive(101, each_second(-3'600, -3'590));
        CHECK(f.values("v.count") == "10 11 1? 10?");
        f.arrive(102, each_second(-3'589, -3'580));
        CHECK(f.values("v.count") == "10 11 1? 10? 10");
    }
}

TEST_CASE("a single time far from the others never makes a good window of a few values", "[processing]") {
    const auto align = GENERATE(WindowAlign::wall, WindowAlign::monotonic);
    GivenBatch f(counting_windows(align));
    f.arrive(100, each_second(0, 34));
    SECTION("earlier") {
        f.arrive(100, {{12.0, 999.0}});
    }
    SECTION("twice earlier") {
        f.arrive(100, {{12.0, 999.0}, {-60.0, 999.0}});
    }
    f.arrive(100, each_second(35, 60));
    const std::string counts = f.values("v.count");
    CAPTURE(counts);
    CHECK(counts.starts_with("10 10 10 "));
    CHECK(counts.ends_with("5? 10 10"));
    CHECK(counts.find(" 1 ") == std::string::npos);
}

TEST_CASE("a window that restarts after a time far ahead is uncertain", "[processing]") {
    GivenBatch f(counting_windows());
    f.arrive(100, each_second(0, 34));
    f.arrive(100, {{86'000.0, 999.0}});
    f.arrive(100, each_second(35, 60));
    CHECK(f.values("v.count").ends_with(" 1? 5? 10 10"));
}

TEST_CASE("an alarm delay is measured by the times of the sender", "[processing]") {
    ChannelProcessing how;
    how.alarm_high = 100;
    how.alarm_delay = 5s;
    const auto states = [](const GivenBatch& f) {
        std::string text;
        for (const TelemetrySample& sample : f.samples_of("v.alarm")) {
            text += (text.empty() ? "" : " ") + std::string(sample.type == ValueType::text ? sample.text() : "-");
        }
        return text;
    };
    GivenBatch f(how);
    f.arrive(100, {{0, 0}});
    f.arrive(200, {{1, 500}, {2, 500}});  // long after the first value, but only two seconds for the sender
    CHECK(states(f) == "normal");
    SECTION("of values") {
        f.arrive(200, {{3, 500}, {6, 500}});
        CHECK(states(f) == "normal high");
    }
    SECTION("and by the time that has passed since the last value") {
        f.tick(203);
        CHECK(states(f) == "normal");
        f.tick(204);
        CHECK(states(f) == "normal high");
    }
    SECTION("and restarts with times on another clock") {
        f.arrive_plain(201, 500);
        CHECK(states(f) == "normal");
        f.arrive_plain(206, 500);
        CHECK(states(f) == "normal high");
    }
}

TEST_CASE("send intervals are measured by the times of the sender", "[processing]") {
    ChannelProcessing how;
    SECTION("at least") {
        how.send_interval_min = 2s;
        GivenBatch f(how);
        f.arrive(100, each_second(0, 4));
        CHECK(f.values() == "1000 1020 1040");
    }
    SECTION("at most") {
        how.deadband = 1'000;
        how.send_interval_max = 2s;
        GivenBatch f(how);
        f.arrive(100, each_second(0, 4));
        CHECK(f.values() == "1000 1020 1040");
    }
}
