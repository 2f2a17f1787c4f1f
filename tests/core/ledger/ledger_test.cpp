#include "core/ledger.hpp"

#include "core/bounded_queue.hpp"
#include "support/catch.hpp"

#include <array>
#include <atomic>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace telegate;

namespace {

constexpr DeviceId boiler{0};
constexpr DeviceId pump{1};

/// Two devices with one channel each, and their ledger.
struct Fixture {
    ChannelTable channels;
    ChannelId temp = channels.add(boiler, "boiler", "temp", "Cel").value();
    ChannelId speed = channels.add(pump, "pump", "speed", "1/min").value();
    Ledger ledger{2, channels};

    static TelemetrySample sample(ChannelId channel, std::uint64_t seq) {
        TelemetrySample made{};
        made.channel = channel;
        made.seq = seq;
        return made;
    }
    /// Captures the next samples of the channel.
    void capture(ChannelId channel, std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::array one{sample(channel, ledger.counts_of(channel).sampled + 1)};
            ledger.captured(channels.at(channel).device_id, one);
        }
    }
    void hold_back(ChannelId channel, std::uint64_t count) {
        ledger.filtered(channels.at(channel).device_id, std::array{FilteredCount{channel, count}});
    }
    void pop(std::uint64_t taken, std::uint64_t published) {
        ledger.taken(std::array{taken, std::uint64_t{0}}, std::array{published, std::uint64_t{0}});
    }
    [[nodiscard]] LedgerCounts counts(DeviceId device) const { return ledger.cut()[to_index(device)]; }
};

std::uint64_t dropped(const LedgerCounts& counts, DropReason reason) {
    return counts.dropped[static_cast<std::size_t>(reason)];
}

}  // namespace

TEST_CASE("every drop reason has its own name", "[core][ledger]") {
    CHECK(to_string(DropReason::queue_overflow) == "queue_overflow");
    CHECK(to_string(DropReason::shutdown) == "shutdown");
}

TEST_CASE("a captured sample is queued until the pump has taken it", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 3);
    CHECK(f.counts(boiler).sampled == 3);
    CHECK(f.counts(boiler).queued == 3);
    f.pop(2, 2);
    CHECK(f.counts(boiler).published == 2);
    CHECK(f.counts(boiler).queued == 1);
    CHECK(f.counts(boiler).balanced());
}

TEST_CASE("a filtered sample counts as sampled and is never queued", "[core][ledger]") {
    Fixture f;
    f.hold_back(f.temp, 4);
    CHECK(f.counts(boiler).sampled == 4);
    CHECK(f.counts(boiler).filtered == 4);
    CHECK(f.counts(boiler).queued == 0);
    CHECK(f.counts(boiler).balanced());
}

TEST_CASE("filtered samples of several channels are counted together", "[core][ledger]") {
    Fixture f;
    const ChannelId level = f.channels.add(boiler, "boiler", "level", "m").value();
    f.ledger.filtered(boiler, std::array{FilteredCount{f.temp, 4}, FilteredCount{level, 2}});
    CHECK(f.counts(boiler).sampled == 6);
    CHECK(f.counts(boiler).filtered == 6);
    CHECK(f.counts(boiler).balanced());
    CHECK(f.ledger.counts_of(f.temp).filtered == 4);
    CHECK(f.ledger.counts_of(level).sampled == 2);
    CHECK(f.ledger.counts_of(level).balanced());
    CHECK(f.ledger.channels_agree(2));
}

TEST_CASE("a drop counts for its reason and for the device of its channel", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 1);
    f.capture(f.speed, 2);
    f.ledger.dropped_at_queue(Fixture::sample(f.speed, 1), DropReason::queue_overflow);
    f.ledger.dropped_at_pump(Fixture::sample(f.speed, 2), DropReason::shutdown);
    CHECK(dropped(f.counts(pump), DropReason::queue_overflow) == 1);
    CHECK(dropped(f.counts(pump), DropReason::shutdown) == 1);
    CHECK(f.counts(pump).queued == 0);
    CHECK(f.counts(pump).balanced());
    CHECK(f.counts(boiler).dropped_total() == 0);
    CHECK(f.counts(boiler).queued == 1);
}

TEST_CASE("the ledger does not balance when a taken sample is neither published nor dropped", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 2);
    f.pop(2, 1);
    CHECK_FALSE(f.counts(boiler).balanced());
}

TEST_CASE("the ledger does not balance when more is published than was taken", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 2);
    f.pop(1, 2);
    CHECK_FALSE(f.counts(boiler).balanced());
}

TEST_CASE("the ledgers of several devices add up", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 2);
    f.capture(f.speed, 3);
    f.hold_back(f.speed, 1);
    f.ledger.dropped_at_queue(Fixture::sample(f.temp, 1), DropReason::queue_overflow);
    LedgerCounts all = f.counts(boiler);
    all += f.counts(pump);
    CHECK(all.sampled == 6);
    CHECK(all.filtered == 1);
    CHECK(all.queued == 4);
    CHECK(all.dropped_total() == 1);
    CHECK(all.balanced());
}

TEST_CASE("a device that gets its own thread keeps its counts", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 2);
    f.ledger.separate(boiler);
    f.capture(f.temp, 3);
    f.ledger.separate(boiler);
    f.hold_back(f.temp, 1);
    f.ledger.dropped_at_queue(Fixture::sample(f.temp, 1), DropReason::queue_overflow);
    f.capture(f.speed, 1);
    CHECK(f.counts(boiler).sampled == 6);
    CHECK(f.counts(boiler).queued == 4);
    CHECK(f.counts(boiler).balanced());
    CHECK(f.counts(pump).sampled == 1);
    CHECK(f.ledger.channels_agree(2));
}

TEST_CASE("a channel records how many samples it lost, and which were the first and the last", "[core][ledger]") {
    Fixture f;
    for (const std::uint64_t seq : {7U, 8U, 12U}) {
        f.ledger.dropped_at_queue(Fixture::sample(f.temp, seq), DropReason::queue_overflow);
    }
    const ChannelDrops drops = f.ledger.drops_of(f.temp);
    CHECK(drops.count == 3);
    CHECK(drops.first_seq == 7);
    CHECK(drops.last_seq == 12);
}

TEST_CASE("a channel that lost nothing has no drops", "[core][ledger]") {
    Fixture f;
    CHECK(f.ledger.drops_of(f.speed).count == 0);
    f.ledger.dropped_at_pump(Fixture::sample(f.temp, 1), DropReason::shutdown);
    CHECK(f.ledger.drops_of(f.speed).count == 0);
}

TEST_CASE("channels of every block keep their own drops", "[core][ledger]") {
    Fixture f;
    std::vector<ChannelId> ids;
    for (int index = 0; index < 600; ++index) {
        ids.push_back(f.channels.add(pump, "pump", "c" + std::to_string(index), "").value());
        f.ledger.dropped_at_queue(Fixture::sample(ids.back(), 100 + to_index(ids.back())), DropReason::queue_overflow);
    }
    for (const ChannelId id : ids) {
        CHECK(f.ledger.drops_of(id).count == 1);
        CHECK(f.ledger.drops_of(id).first_seq == 100 + to_index(id));
    }
}

namespace {

/// The sampling thread's side, as in the sampler.
void produce(Fixture& f, BoundedQueue<TelemetrySample>& queue, std::uint64_t samples) {
    for (std::uint64_t seq = 1; seq <= samples; ++seq) {
        f.ledger.captured(boiler, std::array{Fixture::sample(f.temp, seq)});
        queue.push(queue.first(), Fixture::sample(f.temp, seq), [&f](const TelemetrySample& lost, QueueLoss) {
            f.ledger.dropped_at_queue(lost, DropReason::queue_overflow);
        });
    }
}

/// The pump's side, until all samples are produced and the queue is empty.
void consume(Fixture& f, BoundedQueue<TelemetrySample>& queue, const std::atomic<bool>& produced) {
    std::array<TelemetrySample, 16> batch;
    for (;;) {
        const bool last = produced.load();
        const std::size_t count = queue.pop(batch);
        if (count > 0) {
            for (const TelemetrySample& sample : std::span(batch).first(count)) {
                if (sample.seq > f.ledger.progress(f.temp).reached() + 1) {
                    f.ledger.progress(f.temp).skip_to(sample.seq - 1);
                }
                f.ledger.progress(f.temp).reach(sample.seq);
            }
            f.pop(count, count);
        } else if (last) {
            return;
        } else {
            std::this_thread::yield();
        }
    }
}

}  // namespace

TEST_CASE("the ledger balances at every read while both sides count", "[core][ledger][thread]") {
    constexpr std::uint64_t samples = 300'000;
    const OverflowPolicy policy = GENERATE(OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest);
    Fixture f;
    BoundedQueue<TelemetrySample> queue(2, policy);
    std::atomic<bool> produced{false};
    std::thread producer([&] {
        produce(f, queue, samples);
        produced = true;
    });
    std::thread consumer([&] { consume(f, queue, produced); });

    std::atomic<std::uint64_t> unbalanced{0};
    std::atomic<std::uint64_t> absurd{0};
    std::atomic<std::uint64_t> disagreeing{0};
    std::vector<std::thread> readers;  // more than there are processors, so that a read is interrupted occasionally
    for (int reader = 0; reader < 4; ++reader) {
        readers.emplace_back([&] {
            for (LedgerCounts counts; counts.sampled < samples;) {
                counts = f.counts(boiler);
                unbalanced += counts.balanced() ? 0U : 1U;
                absurd += counts.queued > counts.sampled ? 1U : 0U;  // a negative number would look like this
                const ChannelLedgerCounts channel = f.ledger.counts_of(f.temp);
                unbalanced += channel.balanced() ? 0U : 1U;
                absurd += channel.queued > channel.sampled ? 1U : 0U;
                disagreeing += f.ledger.channels_agree(2) ? 0U : 1U;
            }
        });
    }
    for (std::thread& reader : readers) {
        reader.join();
    }
    producer.join();
    consumer.join();
    CHECK(unbalanced == 0);
    CHECK(absurd == 0);
    CHECK(disagreeing == 0);

    const LedgerCounts last = f.counts(boiler);
    CHECK(last.sampled == samples);
    CHECK(last.queued == 0);
    CHECK(last.published + last.dropped_total() == samples);
    CHECK(f.ledger.drops_of(f.temp).count == last.dropped_total());
}

TEST_CASE("the ledgers of the first devices can be read alone, and a batch may contain only these devices",
          "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 3);
    f.capture(f.speed, 4);
    f.ledger.taken(std::array{std::uint64_t{2}}, std::array{std::uint64_t{2}});
    const std::vector<LedgerCounts> some = f.ledger.cut(1);
    REQUIRE(some.size() == 1);
    CHECK(some[0].queued == 1);
    CHECK(f.counts(pump).queued == 4);
    CHECK(f.ledger.cut(0).empty());
}

TEST_CASE("counts that were added can be subtracted again", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 3);
    f.capture(f.speed, 4);
    f.ledger.dropped_at_queue(Fixture::sample(f.speed, 1), DropReason::queue_overflow);
    LedgerCounts total = f.counts(boiler);
    total += f.counts(pump);
    total -= f.counts(boiler);
    CHECK(total.sampled == 4);
    CHECK(total.queued == 3);
    CHECK(dropped(total, DropReason::queue_overflow) == 1);
    CHECK(total.balanced());
}

TEST_CASE("a channel has its own ledger, with times for each reason", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 6);
    f.hold_back(f.temp, 2);
    for (const std::uint64_t seq : {2U, 4U}) {
        TelemetrySample lost = Fixture::sample(f.temp, seq);
        lost.time_utc_ns = static_cast<std::int64_t>(1000 + seq);
        f.ledger.dropped_at_queue(lost, DropReason::queue_overflow);
    }
    f.ledger.dropped_at_pump(Fixture::sample(f.temp, 6), DropReason::shutdown);
    f.ledger.progress(f.temp).reach(2);
    const ChannelLedgerCounts counts = f.ledger.counts_of(f.temp);
    CHECK(counts.sampled == 8);
    CHECK(counts.published == 2);
    CHECK(counts.filtered == 2);
    CHECK(counts.queued == 1);
    CHECK(counts.balanced());
    const ChannelDrops& overflow = counts.drops[0];
    CHECK(overflow.count == 2);
    CHECK(overflow.first_seq == 2);
    CHECK(overflow.last_seq == 4);
    CHECK(overflow.first_utc_ns == 1002);
    CHECK(overflow.last_utc_ns == 1004);
    CHECK(counts.drops[1].count == 1);
    CHECK(f.ledger.drops_of(f.temp).last_seq == 6);
    CHECK(f.ledger.drops_of(f.temp).count == 3);
}

TEST_CASE("skipped samples are not published, and a reader never sees half of a skip", "[core][ledger][thread]") {
    constexpr std::uint64_t skips = 100'000;
    constexpr std::uint64_t lost_each = 1'000'000;
    ChannelProgress progress;
    bool is_whole = true;
    std::thread reader([&] {
        for (std::uint64_t before = 0; before < skips && is_whole;) {
            const std::uint64_t published = progress.published();
            is_whole = published >= before && published <= skips;
            before = published;
        }
    });
    for (std::uint64_t done = 0; done < skips; ++done) {
        progress.skip_to(progress.reached() + lost_each);
        progress.reach(progress.reached() + 1);
    }
    reader.join();
    CHECK(is_whole);
    CHECK(progress.reached() == skips * (lost_each + 1));
}

TEST_CASE("losses of a channel in the queue and at the pump form one record, whichever comes first", "[core][ledger]") {
    Fixture f;
    f.ledger.dropped_at_pump(Fixture::sample(f.temp, 3), DropReason::shutdown);
    f.ledger.dropped_at_queue(Fixture::sample(f.temp, 5), DropReason::shutdown);
    CHECK(f.ledger.drops_of(f.temp).first_seq == 3);
    CHECK(f.ledger.drops_of(f.temp).last_seq == 5);
    f.ledger.dropped_at_queue(Fixture::sample(f.speed, 1), DropReason::shutdown);
    f.ledger.dropped_at_pump(Fixture::sample(f.speed, 7), DropReason::shutdown);
    CHECK(f.ledger.drops_of(f.speed).first_seq == 1);
    CHECK(f.ledger.drops_of(f.speed).last_seq == 7);
}

TEST_CASE("the ledgers of devices and of channels disagree if one side has counted more", "[core][ledger]") {
    Fixture f;
    SECTION("the device has counted more") {
        f.ledger.captured(boiler, std::array{Fixture::sample(f.temp, 1), Fixture::sample(f.temp, 1)});
        CHECK_FALSE(f.ledger.channels_agree(2));
    }
    SECTION("the channel has counted more than one batch") {
        f.ledger.captured(boiler, std::array{Fixture::sample(f.temp, Ledger::batch_samples_max + 1)});
        CHECK(f.ledger.channels_agree(2));
        f.ledger.captured(boiler, std::array{Fixture::sample(f.temp, Ledger::batch_samples_max + 3)});
        CHECK_FALSE(f.ledger.channels_agree(2));
    }
    SECTION("the pump has counted a batch that it has not published") {
        f.capture(f.temp, 2);
        f.pop(2, 2);
        CHECK_FALSE(f.ledger.channels_agree(2));
        f.ledger.progress(f.temp).reach(2);
        CHECK(f.ledger.channels_agree(2));
    }
}

TEST_CASE("the pump is notified once of each channel that lost samples in the queue", "[core][ledger]") {
    Fixture f;
    std::vector<ChannelId> ids;
    for (int index = 0; index < 200; ++index) {
        ids.push_back(f.channels.add(pump, "pump", "c" + std::to_string(index), "").value());
    }
    f.ledger.dropped_at_queue(Fixture::sample(f.temp, 7), DropReason::queue_overflow);
    f.ledger.dropped_at_queue(Fixture::sample(ids.back(), 9), DropReason::shutdown);
    const auto lost = [&f] {
        std::vector<std::pair<ChannelId, std::uint64_t>> told;
        f.ledger.each_newly_dropped([&](ChannelId channel, const Ledger::LostUpTo& up_to) {
            if (up_to.overflow + up_to.shutdown > 0) {
                told.emplace_back(channel, up_to.overflow + up_to.shutdown);
            }
        });
        return told;
    };
    CHECK(lost() == std::vector<std::pair<ChannelId, std::uint64_t>>{{f.temp, 7}, {ids.back(), 9}});
    CHECK(lost().empty());
}
