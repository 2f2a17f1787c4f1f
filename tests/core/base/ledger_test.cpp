#include "core/ledger.hpp"

#include "core/bounded_queue.hpp"
#include "support/catch.hpp"

#include <array>
#include <atomic>
#include <string>
#include <thread>
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
    f.ledger.captured(boiler, 3);
    CHECK(f.books(boiler).sampled == 3);
    CHECK(f.books(boiler).queued == 3);
    f.take(2, 2);
    CHECK(f.books(boiler).published == 2);
    CHECK(f.books(boiler).queued == 1);
    CHECK(f.books(boiler).balanced());
}

TEST_CASE("a filtered sample was sampled and was never queued", "[core][ledger]") {
    Fixture f;
    f.ledger.filtered(boiler, 4);
    CHECK(f.books(boiler).sampled == 4);
    CHECK(f.books(boiler).filtered == 4);
    CHECK(f.books(boiler).queued == 0);
    CHECK(f.books(boiler).balanced());
}

TEST_CASE("a drop counts under its reason and for the device of its channel", "[core][ledger]") {
    Fixture f;
    f.ledger.captured(boiler, 1);
    f.ledger.captured(pump, 2);
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
    f.ledger.captured(boiler, 2);
    f.take(2, 1);
    CHECK_FALSE(f.books(boiler).balanced());
}

TEST_CASE("the books do not balance when more is published than was taken", "[core][ledger]") {
    Fixture f;
    f.ledger.captured(boiler, 2);
    f.take(1, 2);
    CHECK_FALSE(f.books(boiler).balanced());
}

TEST_CASE("books of several devices add up", "[core][ledger]") {
    Fixture f;
    f.ledger.captured(boiler, 2);
    f.ledger.captured(pump, 3);
    f.ledger.filtered(pump, 1);
    f.ledger.dropped_at_queue(Fixture::sample(f.temp, 1), DropReason::queue_overflow);
    Books all = f.books(boiler);
    all += f.books(pump);
    CHECK(all.sampled == 6);
    CHECK(all.filtered == 1);
    CHECK(all.queued == 4);
    CHECK(all.dropped_total() == 1);
    CHECK(all.balanced());
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
    CHECK(f.ledger.drops_of(static_cast<ChannelId>(ChannelTable::channels_max - 1)).count == 0);
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
        f.ledger.captured(boiler, 1);
        queue.push(Fixture::sample(f.temp, seq), [&f](const TelemetrySample& lost, QueueLoss) {
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
    const Producers producers = GENERATE(Producers::one, Producers::several);
    Fixture f;
    BoundedQueue<TelemetrySample> queue(2, policy, producers);
    std::atomic<bool> produced{false};
    std::thread producer([&] {
        produce(f, queue, samples);
        produced = true;
    });
    std::thread consumer([&] { consume(f, queue, produced); });

    std::atomic<std::uint64_t> unbalanced{0};
    std::atomic<std::uint64_t> absurd{0};
    std::vector<std::thread> readers;  // more than there are processors, so that a cut is interrupted now and then
    for (int reader = 0; reader < 4; ++reader) {
        readers.emplace_back([&] {
            for (Books books; books.sampled < samples;) {
                books = f.books(boiler);
                unbalanced += books.balanced() ? 0U : 1U;
                absurd += books.queued > books.sampled ? 1U : 0U;  // what a negative number would look like
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

    const Books last = f.books(boiler);
    CHECK(last.sampled == samples);
    CHECK(last.queued == 0);
    CHECK(last.published + last.dropped_total() == samples);
    CHECK(f.ledger.drops_of(f.temp).count == last.dropped_total());
}

TEST_CASE("the first devices can be cut alone, and a batch may name only them", "[core][ledger]") {
    Fixture f;
    f.ledger.captured(boiler, 3);
    f.ledger.captured(pump, 4);
    f.ledger.taken(std::array{std::uint64_t{2}}, std::array{std::uint64_t{2}});
    const std::vector<Books> some = f.ledger.cut(1);
    REQUIRE(some.size() == 1);
    CHECK(some[0].queued == 1);
    CHECK(f.books(pump).queued == 4);
    CHECK(f.ledger.cut(0).empty());
}

TEST_CASE("what was added to books can be taken out again", "[core][ledger]") {
    Fixture f;
    f.ledger.captured(boiler, 3);
    f.ledger.captured(pump, 4);
    f.ledger.dropped_at_queue(Fixture::sample(f.speed, 1), DropReason::queue_overflow);
    Books total = f.books(boiler);
    total += f.books(pump);
    total -= f.books(boiler);
    CHECK(total.sampled == 4);
    CHECK(total.queued == 3);
    CHECK(dropped(total, DropReason::queue_overflow) == 1);
    CHECK(total.balanced());
}
