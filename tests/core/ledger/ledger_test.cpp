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
    /// The next samples of the channel have been captured.
    void capture(ChannelId channel, std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::array one{sample(channel, ledger.books_of(channel).sampled + 1)};
            ledger.captured(channels.at(channel).device_id, one);
        }
    }
    void hold_back(ChannelId channel, std::uint64_t count) {
        ledger.filtered(channels.at(channel).device_id, std::array{FilteredCount{channel, count}});
    }
    void take(std::uint64_t taken, std::uint64_t published) {
        ledger.taken(std::array{taken, std::uint64_t{0}}, std::array{published, std::uint64_t{0}});
    }
    [[nodiscard]] Books books(DeviceId device) const { return ledger.cut()[to_index(device)]; }
};

std::uint64_t dropped(const Books& books, DropReason reason) {
    return books.dropped[static_cast<std::size_t>(reason)];
}

}  // namespace

TEST_CASE("every drop reason has a word of its own", "[core][ledger]") {
    CHECK(to_string(DropReason::queue_overflow) == "queue_overflow");
    CHECK(to_string(DropReason::shutdown) == "shutdown");
}

TEST_CASE("a captured sample is queued until the pump has taken it", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 3);
    CHECK(f.books(boiler).sampled == 3);
    CHECK(f.books(boiler).queued == 3);
    f.take(2, 2);
    CHECK(f.books(boiler).published == 2);
    CHECK(f.books(boiler).queued == 1);
    CHECK(f.books(boiler).balanced());
}

TEST_CASE("a filtered sample was sampled and was never queued", "[core][ledger]") {
    Fixture f;
    f.hold_back(f.temp, 4);
    CHECK(f.books(boiler).sampled == 4);
    CHECK(f.books(boiler).filtered == 4);
    CHECK(f.books(boiler).queued == 0);
    CHECK(f.books(boiler).balanced());
}

TEST_CASE("filtered samples of several channels are entered at once", "[core][ledger]") {
    Fixture f;
    const ChannelId level = f.channels.add(boiler, "boiler", "level", "m").value();
    f.ledger.filtered(boiler, std::array{FilteredCount{f.temp, 4}, FilteredCount{level, 2}});
    CHECK(f.books(boiler).sampled == 6);
    CHECK(f.books(boiler).filtered == 6);
    CHECK(f.books(boiler).balanced());
    CHECK(f.ledger.books_of(f.temp).filtered == 4);
    CHECK(f.ledger.books_of(level).sampled == 2);
    CHECK(f.ledger.books_of(level).balanced());
    CHECK(f.ledger.channels_agree(2));
}

TEST_CASE("a drop counts under its reason and for the device of its channel", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 1);
    f.capture(f.speed, 2);
    f.ledger.dropped_at_queue(Fixture::sample(f.speed, 1), DropReason::queue_overflow);
    f.ledger.dropped_at_pump(Fixture::sample(f.speed, 2), DropReason::shutdown);
    CHECK(dropped(f.books(pump), DropReason::queue_overflow) == 1);
    CHECK(dropped(f.books(pump), DropReason::shutdown) == 1);
    CHECK(f.books(pump).queued == 0);
    CHECK(f.books(pump).balanced());
    CHECK(f.books(boiler).dropped_total() == 0);
    CHECK(f.books(boiler).queued == 1);
}

TEST_CASE("the books do not balance when a taken sample is neither published nor dropped", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 2);
    f.take(2, 1);
    CHECK_FALSE(f.books(boiler).balanced());
}

TEST_CASE("the books do not balance when more is published than was taken", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 2);
    f.take(1, 2);
    CHECK_FALSE(f.books(boiler).balanced());
}

TEST_CASE("books of several devices add up", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 2);
    f.capture(f.speed, 3);
    f.hold_back(f.speed, 1);
    f.ledger.dropped_at_queue(Fixture::sample(f.temp, 1), DropReason::queue_overflow);
    Books all = f.books(boiler);
    all += f.books(pump);
    CHECK(all.sampled == 6);
    CHECK(all.filtered == 1);
    CHECK(all.queued == 4);
    CHECK(all.dropped_total() == 1);
    CHECK(all.balanced());
}

TEST_CASE("a device that gets a thread of its own keeps its counts", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 2);
    f.ledger.separate(boiler);
    f.capture(f.temp, 3);
    f.ledger.separate(boiler);
    f.hold_back(f.temp, 1);
    f.ledger.dropped_at_queue(Fixture::sample(f.temp, 1), DropReason::queue_overflow);
    f.capture(f.speed, 1);
    CHECK(f.books(boiler).sampled == 6);
    CHECK(f.books(boiler).queued == 4);
    CHECK(f.books(boiler).balanced());
    CHECK(f.books(pump).sampled == 1);
    CHECK(f.ledger.channels_agree(2));
}

TEST_CASE("a channel remembers how many samples it lost, and the first and the last of them", "[core][ledger]") {
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

/// The sampling thread's side of the crossing, as the sampler does it.
void produce(Fixture& f, BoundedQueue<TelemetrySample>& queue, std::uint64_t samples) {
    for (std::uint64_t seq = 1; seq <= samples; ++seq) {
        f.ledger.captured(boiler, std::array{Fixture::sample(f.temp, seq)});
        queue.push(queue.first(), Fixture::sample(f.temp, seq), [&f](const TelemetrySample& lost, QueueLoss) {
            f.ledger.dropped_at_queue(lost, DropReason::queue_overflow);
        });
    }
}

/// The pump's side, until the queue is closed and empty.
void consume(Fixture& f, BoundedQueue<TelemetrySample>& queue, const std::atomic<bool>& produced) {
    std::array<TelemetrySample, 16> batch;
    for (;;) {
        const bool last = produced.load();
        const std::uint64_t count = queue.pop(batch);
        if (count > 0) {
            for (const TelemetrySample& sample : std::span(batch).first(count)) {
                if (sample.seq > f.ledger.progress(f.temp).reached() + 1) {
                    f.ledger.progress(f.temp).skip_to(sample.seq - 1);
                }
                f.ledger.progress(f.temp).reach(sample.seq);
            }
            f.take(count, count);
        } else if (last) {
            return;
        } else {
            std::this_thread::yield();
        }
    }
}

}  // namespace

TEST_CASE("the books balance at every cut while both sides go on", "[core][ledger][thread]") {
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
    std::vector<std::thread> readers;  // more than there are processors, so that a cut is interrupted now and then
    for (int reader = 0; reader < 4; ++reader) {
        readers.emplace_back([&] {
            for (Books books; books.sampled < samples;) {
                books = f.books(boiler);
                unbalanced += books.balanced() ? 0U : 1U;
                absurd += books.queued > books.sampled ? 1U : 0U;  // what a negative number would look like
                const ChannelBooks channel = f.ledger.books_of(f.temp);
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

    const Books last = f.books(boiler);
    CHECK(last.sampled == samples);
    CHECK(last.queued == 0);
    CHECK(last.published + last.dropped_total() == samples);
    CHECK(f.ledger.drops_of(f.temp).count == last.dropped_total());
}

TEST_CASE("the first devices can be cut alone, and a batch may name only them", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 3);
    f.capture(f.speed, 4);
    f.ledger.taken(std::array{std::uint64_t{2}}, std::array{std::uint64_t{2}});
    const std::vector<Books> some = f.ledger.cut(1);
    REQUIRE(some.size() == 1);
    CHECK(some[0].queued == 1);
    CHECK(f.books(pump).queued == 4);
    CHECK(f.ledger.cut(0).empty());
}

TEST_CASE("what was added to books can be taken out again", "[core][ledger]") {
    Fixture f;
    f.capture(f.temp, 3);
    f.capture(f.speed, 4);
    f.ledger.dropped_at_queue(Fixture::sample(f.speed, 1), DropReason::queue_overflow);
    Books total = f.books(boiler);
    total += f.books(pump);
    total -= f.books(boiler);
    CHECK(total.sampled == 4);
    CHECK(total.queued == 3);
    CHECK(dropped(total, DropReason::queue_overflow) == 1);
    CHECK(total.balanced());
}

TEST_CASE("a channel has books of its own, with times for each reason", "[core][ledger]") {
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
    const ChannelBooks books = f.ledger.books_of(f.temp);
    CHECK(books.sampled == 8);
    CHECK(books.published == 2);
    CHECK(books.filtered == 2);
    CHECK(books.queued == 1);
    CHECK(books.balanced());
    const ChannelDrops& overflow = books.drops[0];
    CHECK(overflow.count == 2);
    CHECK(overflow.first_seq == 2);
    CHECK(overflow.last_seq == 4);
    CHECK(overflow.first_utc_ns == 1002);
    CHECK(overflow.last_utc_ns == 1004);
    CHECK(books.drops[1].count == 1);
    CHECK(f.ledger.drops_of(f.temp).last_seq == 6);
    CHECK(f.ledger.drops_of(f.temp).count == 3);
}

TEST_CASE("what is skipped is not published, and a reader sees each skip whole", "[core][ledger][thread]") {
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

TEST_CASE("what the queue and the pump lost of a channel is one record, whoever lost the first", "[core][ledger]") {
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

TEST_CASE("books of devices and of channels disagree when one side has counted more", "[core][ledger]") {
    Fixture f;
    SECTION("the device") {
        f.ledger.captured(boiler, std::array{Fixture::sample(f.temp, 1), Fixture::sample(f.temp, 1)});
        CHECK_FALSE(f.ledger.channels_agree(2));
    }
    SECTION("the channel, by more than what is being counted") {
        f.ledger.captured(boiler, std::array{Fixture::sample(f.temp, Ledger::batch_samples_max + 1)});
        CHECK(f.ledger.channels_agree(2));
        f.ledger.captured(boiler, std::array{Fixture::sample(f.temp, Ledger::batch_samples_max + 3)});
        CHECK_FALSE(f.ledger.channels_agree(2));
    }
    SECTION("the pump, of a batch that it has not published") {
        f.capture(f.temp, 2);
        f.take(2, 2);
        CHECK_FALSE(f.ledger.channels_agree(2));
        f.ledger.progress(f.temp).reach(2);
        CHECK(f.ledger.channels_agree(2));
    }
}

TEST_CASE("the pump is told once of the channels that the queue has lost samples of", "[core][ledger]") {
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
