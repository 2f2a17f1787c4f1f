#include "store/interval_table.hpp"
#include "store/log_model.hpp"
#include "store/log_reader.hpp"
#include "store/sample_log.hpp"
#include "store/simulated_disk.hpp"
#include "support/catch.hpp"

#include "core/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace telegate::store {
namespace {

constexpr std::size_t random_log_segment_bytes = 4'096;

/// Three channels, "device/a" to "device/c", in several runs with gaps, with small segments.
struct RandomLog {
    explicit RandomLog(std::uint64_t seed) : random(seed) {
        for (const char* name : {"a", "b", "c"}) {
            REQUIRE(channels.add(DeviceId{0}, "device", name, "Cel"));
        }
        for (std::int64_t epoch = 1; epoch <= 3; ++epoch) {
            write(epoch);
        }
    }

    void write(std::int64_t epoch) {
        SampleLog log({disk, channels, clock}, {"/log", epoch, LogId{std::byte{9}}, {}, random_log_segment_bytes});
        std::vector<std::uint64_t> seqs(3);
        for (int i = 0; i < 60; ++i) {
            const auto channel = static_cast<std::uint32_t>(random() % 10 == 0 ? 0 : 1 + random() % 2);
            if (random() % 8 == 0) {
                const std::uint64_t first = seqs[channel] + 1;
                seqs[channel] += 1 + random() % 5;
                log.append(LogGap{static_cast<ChannelId>(channel), first, seqs[channel], GapReason::log_slow});
            }
            std::vector<TelemetrySample> samples;
            for (std::uint64_t n = random() % 40; n > 0; --n) {
                samples.push_back(make_sample(epoch, static_cast<ChannelId>(channel), ++seqs[channel]));
                samples.back().time_utc_ns = now_ns += 1'000;
            }
            log.append(samples);
            if (random() % 3 == 0) {
                log.sync();
            }
        }
        if (random() % 2 == 0) {
            log.close();
        } else {
            log.sync();
        }
    }

    std::mt19937_64 random;
    SimulatedDisk disk{1};
    SystemClock clock;
    ChannelTable channels;
    std::int64_t now_ns = 1'000'000'000;
};

/// An entry of a channel: a sample, or a gap with its last number.
struct Entry {
    std::int64_t epoch_ms = 0;
    std::uint64_t seq = 0;
    std::uint64_t last_seq = 0;  // 0: a sample
    GapReason reason = GapReason::unknown;
    std::int64_t utc_ns = 0;

    bool operator==(const Entry&) const = default;
};

/// Reads the rest of the log and returns the entries of a channel.
std::vector<Entry> entries_of(LogReader& reader, const std::string& topic) {
    std::vector<Entry> entries;
    LogBatch batch;
    while (reader.next(batch)) {
        const auto is_wanted = [&](ChannelId channel) {
            const SegmentChannel* const definition = batch.find(channel);
            return definition != nullptr && definition->topic() == topic;
        };
        for_entries(
            batch.samples, batch.gaps,
            [&](const BlockGap& each) {
                if (is_wanted(each.gap.channel)) {
                    entries.push_back({batch.epoch_ms, each.gap.first_seq, each.gap.last_seq, each.gap.reason, 0});
                }
            },
            [&](const TelemetrySample& each) {
                if (is_wanted(each.channel)) {
                    entries.push_back({batch.epoch_ms, each.seq, 0, GapReason::unknown, each.time_utc_ns});
                }
            });
    }
    return entries;
}

TelemetrySample sample_at(std::int64_t utc_ns, double value) {
    TelemetrySample sample{};
    sample.time_utc_ns = utc_ns;
    sample.type = ValueType::real;
    sample.value.real = value;
    return sample;
}

constexpr std::int64_t any_time = std::numeric_limits<std::int64_t>::min();

}  // namespace

TEST_CASE("a channel that is read alone has the same samples and gaps", "[store][log]") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        RandomLog log(seed);
        for (const std::string topic : {"device/a", "device/b", "device/c", "device/d"}) {
            CAPTURE(topic);
            LogReader all(log.disk, "/log");
            const std::vector<Entry> expected = entries_of(all, topic);
            LogReader reader(log.disk, "/log");
            reader.select({topic});
            CHECK(entries_of(reader, topic) == expected);
        }
    }
}

TEST_CASE("blocks that are left encoded have the same samples and gaps", "[store][log]") {
    int left_encoded = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        RandomLog log(seed);
        LogReader all(log.disk, "/log");
        LogReader reader(log.disk, "/log");
        reader.leave_encoded();
        const Position position = log.random() % 2 == 0 ? 0 : log.random() % 500;
        all.seek(position);
        reader.seek(position);
        LogBatch expected;
        LogBatch batch;
        while (all.next(expected)) {
            REQUIRE(reader.next(batch));
            CHECK(batch.end_position == expected.end_position);
            CHECK(batch.sample_count() == expected.samples.size());
            CHECK(batch.published_before == expected.published_before);
            left_encoded += int{batch.is_encoded};
            reader.decode(batch);
            CHECK(std::equal(batch.samples.begin(), batch.samples.end(), expected.samples.begin(),
                             expected.samples.end(), [](const TelemetrySample& left, const TelemetrySample& right) {
                                 return left.channel == right.channel && left.seq == right.seq;
                             }));
            CHECK(std::equal(batch.gaps.begin(), batch.gaps.end(), expected.gaps.begin(), expected.gaps.end(),
                             [](const BlockGap& left, const BlockGap& right) {
                                 return left.before_sample == right.before_sample && left.gap == right.gap;
                             }));
        }
        CHECK_FALSE(reader.next(batch));
    }
    CHECK(left_encoded > 100);
}

TEST_CASE("a channel that is read alone has the samples of a time range", "[store][log]") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        RandomLog log(seed);
        const std::int64_t since_ns = 1'000'000'000 + static_cast<std::int64_t>(log.random() % 1'000'000);
        const std::int64_t until_ns = since_ns + static_cast<std::int64_t>(log.random() % 1'000'000);
        LogReader all(log.disk, "/log");
        std::vector<Entry> expected = entries_of(all, "device/b");
        std::erase_if(expected, [&](const Entry& each) {
            return each.last_seq > 0 || each.utc_ns < since_ns || each.utc_ns >= until_ns;
        });
        LogReader reader(log.disk, "/log");
        reader.select({"device/b", since_ns, until_ns});
        reader.seek_time(since_ns);
        std::vector<Entry> entries = entries_of(reader, "device/b");
        std::uint64_t last_seq = entries.empty() ? 0 : entries.front().seq - 1;
        std::int64_t epoch_ms = entries.empty() ? 0 : entries.front().epoch_ms;
        for (const Entry& each : entries) {
            CHECK(each.seq == (each.epoch_ms == epoch_ms ? last_seq : 0) + 1);
            last_seq = std::max(each.seq, each.last_seq);
            epoch_ms = each.epoch_ms;
        }
        std::erase_if(entries, [](const Entry& each) { return each.last_seq > 0; });
        CHECK(entries == expected);
    }
}

TEST_CASE("the last samples of a channel are found", "[store][log]") {
    RandomLog log(5);
    LogReader all(log.disk, "/log");
    all.select({"device/a"});
    const std::vector<Entry> whole = entries_of(all, "device/a");
    for (const std::uint64_t wanted : {1U, 2U, 10U, 50U, 100'000U}) {
        CAPTURE(wanted);
        LogReader reader(log.disk, "/log");
        reader.select({"device/a"});
        reader.seek_last(wanted);
        const std::vector<Entry> last = entries_of(reader, "device/a");
        const auto samples_of = [](const std::vector<Entry>& entries) {
            return static_cast<std::uint64_t>(
                std::count_if(entries.begin(), entries.end(), [](const Entry& each) { return each.last_seq == 0; }));
        };
        CHECK(samples_of(last) >= std::min(wanted, samples_of(whole)));
        CHECK(std::equal(last.rbegin(), last.rend() - 1, whole.rbegin()));
    }
}

TEST_CASE("samples are collected in intervals that begin at multiples of their length", "[store][intervals]") {
    IntervalTable table(std::chrono::nanoseconds(100), 10);
    std::vector<TelemetrySample> samples = {sample_at(-1, 7), sample_at(0, 1), sample_at(99, 4), sample_at(250, 2)};
    samples[1].quality = Quality::bad;
    TelemetrySample text = sample_at(260, 0);
    text.type = ValueType::text;
    samples.push_back(text);
    const std::vector<BlockGap> gaps = {{0, {ChannelId{0}, 1, 2, GapReason::crash}},
                                        {3, {ChannelId{0}, 6, 10, GapReason::log_slow}}};
    REQUIRE(table.add(samples, gaps));
    REQUIRE(table.intervals().size() == 3);
    const Interval& first = table.intervals().at(-100);
    CHECK(first.count == 1);
    CHECK(first.missing == 2);
    const Interval& second = table.intervals().at(0);
    CHECK(second.count == 2);
    CHECK(second.min == 1);
    CHECK(second.max == 4);
    CHECK(second.mean == 2.5);
    CHECK(second.first_ns == 0);
    CHECK(second.last_ns == 99);
    CHECK(second.missing == 5);
    CHECK(second.not_good == 1);
    const Interval& third = table.intervals().at(200);
    CHECK(third.count == 2);
    CHECK(third.numbers == 1);
    CHECK(third.mean == 2);
}

TEST_CASE("values that are not finite numbers only count", "[store][intervals]") {
    IntervalTable table(std::chrono::nanoseconds(100), 10);
    TelemetrySample none = sample_at(2, 0);
    none.type = ValueType::none;
    REQUIRE(table.add(std::vector{sample_at(1, std::numeric_limits<double>::quiet_NaN()), none}, {}));
    CHECK(table.intervals().at(0).count == 2);
    CHECK(table.intervals().at(0).numbers == 0);
}

TEST_CASE("the number of intervals is limited", "[store][intervals]") {
    IntervalTable table(std::chrono::nanoseconds(1), 2);
    CHECK(table.add(std::vector{sample_at(1, 0), sample_at(2, 0), sample_at(1, 0)}, {}));
    CHECK_FALSE(table.add(std::vector{sample_at(any_time, 0)}, {}));
}

}  // namespace telegate::store
