#include "durable/log_buffer.hpp"

#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/rounds.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

namespace telegate::test {
namespace {

constexpr std::uint32_t source_channels = 3;

/// Puts samples and gaps of a few channels into a buffer, each with the next number of its channel.
class Source {
  public:
    explicit Source(LogBuffer& buffer) : buffer_(buffer) {}

    void put(std::mt19937& random) {
        std::vector<TelemetrySample> samples(1 + random() % 4);
        for (TelemetrySample& sample : samples) {
            const auto channel = static_cast<std::uint32_t>(random() % source_channels);
            sample = {};
            sample.channel = static_cast<ChannelId>(channel);
            sample.seq = ++last_seqs_.at(channel);
            sample.value.integer = static_cast<std::int64_t>(published_++);
        }
        buffer_.put(samples);
    }
    void put_gap(std::mt19937& random) {
        const auto channel = static_cast<std::uint32_t>(random() % source_channels);
        const std::uint64_t first = last_seqs_.at(channel) + 1;
        last_seqs_.at(channel) += 1 + random() % 3;
        dropped_ += last_seqs_.at(channel) + 1 - first;
        buffer_.put_gap({static_cast<ChannelId>(channel), first, last_seqs_.at(channel),
                         random() % 8 == 0 ? store::GapReason::shutdown : store::GapReason::queue_overflow});
    }
    /// Samples that are not wanted.
    void skip(std::mt19937& random) {
        const std::uint64_t samples = 1 + random() % 4;
        buffer_.skip(samples);
        published_ += samples;
        skipped_ += samples;
    }
    void step(std::mt19937& random) {
        switch (random() % 4) {
            case 0: return put_gap(random);
            case 1: return skip(random);
            default: return put(random);
        }
    }

    [[nodiscard]] const std::array<std::uint64_t, source_channels>& last_seqs() const { return last_seqs_; }
    [[nodiscard]] std::uint64_t published() const { return published_; }
    [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
    [[nodiscard]] std::uint64_t skipped() const { return skipped_; }

  private:
    LogBuffer& buffer_;
    std::array<std::uint64_t, source_channels> last_seqs_{};
    std::uint64_t published_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t skipped_ = 0;
};

/// Takes everything out of a buffer and checks that each channel arrives in order, and each sample at its place.
struct Sink {
    explicit Sink(LogBuffer& from) : buffer(from) {}

    void reach(ChannelId channel, std::uint64_t first_seq, std::uint64_t last_seq) {
        std::uint64_t& last = last_seqs.at(to_index(channel));
        in_order = in_order && first_seq == last + 1 && last_seq >= first_seq;
        last = last_seq;
    }
    void drain() { buffer.drain(*this); }
    void append(std::span<const TelemetrySample> samples) {
        for (const TelemetrySample& sample : samples) {
            reach(sample.channel, sample.seq, sample.seq);
            in_place = in_place && sample.value.integer == static_cast<std::int64_t>(taken + lost + skipped);
            ++taken;
        }
    }
    void append(const store::LogGap& gap) {
        reach(gap.channel, gap.first_seq, gap.last_seq);
        missing += gap.last_seq + 1 - gap.first_seq;
        slow += gap.reason == store::GapReason::log_slow ? 1U : 0U;
    }
    void record_published(std::uint64_t samples) { lost += samples; }
    void skip(std::uint64_t samples) { skipped += samples; }

    LogBuffer& buffer;
    std::array<std::uint64_t, source_channels> last_seqs{};
    std::uint64_t taken = 0;
    std::uint64_t lost = 0;
    std::uint64_t skipped = 0;
    std::uint64_t missing = 0;
    std::uint64_t slow = 0;
    bool in_order = true;
    bool in_place = true;
};

void check_complete(const LogBuffer& buffer, const Source& source, const Sink& sink) {
    CHECK(sink.in_order);
    CHECK(sink.in_place);
    CHECK(sink.last_seqs == source.last_seqs());
    CHECK(sink.taken + sink.lost + sink.skipped == source.published());
    CHECK(sink.skipped == source.skipped());
    CHECK(sink.missing == source.dropped() + sink.lost);
    CHECK(buffer.lost() == sink.lost);
    CHECK(buffer.offered() == source.published() - source.skipped());
}

}  // namespace

TEST_CASE("every sequence number leaves the buffer of a log in order, however full it is", "[gateway][durable]") {
    const std::size_t capacity = GENERATE(as<std::size_t>(), 1, 2, 3, 5, 16, 300);
    const unsigned seed = GENERATE(1U, 2U, 3U);
    CAPTURE(capacity, seed);
    std::mt19937 random(seed);
    LogBuffer buffer({}, capacity);
    Source source(buffer);
    Sink sink(buffer);
    for (std::size_t step = 0; step < rounds(std::size_t{10'000}); ++step) {
        source.step(random);
        if (random() % (2 * capacity) == 0) {
            sink.drain();
        }
        if (random() % 7 == 0) {
            buffer.flush();
        }
    }
    CHECK((sink.slow > 0 || capacity == 300));  // the few rounds of sanitizers rarely fill it
    buffer.close();
    sink.drain();
    check_complete(buffer, source, sink);
}

TEST_CASE("a thread that empties the buffer of a log slowly receives every sequence number in order",
          "[gateway][durable]") {
    std::atomic<std::uint64_t> wakes{0};
    LogBuffer buffer([&] { ++wakes; }, 64);
    Source source(buffer);
    Sink sink(buffer);
    std::thread log([&] {
        while (buffer.wait_for_load({}, {}, std::chrono::milliseconds(0))) {
            sink.drain();
        }
    });
    std::mt19937 random(5);
    std::uint64_t flushed_at = 0;
    for (std::size_t step = 0; step < rounds(std::size_t{50'000}); ++step) {
        source.step(random);
        if (wakes != flushed_at) {
            flushed_at = wakes;
            buffer.flush();
        }
    }
    buffer.close();
    log.join();
    check_complete(buffer, source, sink);
}

TEST_CASE("losses are reported without a later sample", "[gateway][durable]") {
    std::atomic<bool> is_woken{false};
    LogBuffer buffer([&] { is_woken = true; }, 4);
    Source source(buffer);
    Sink sink(buffer);
    std::mt19937 random(1);
    while (buffer.lost() == 0) {
        source.put(random);
    }
    sink.drain();
    CHECK(is_woken);
    buffer.flush();
    sink.drain();
    CHECK(sink.lost == buffer.lost());
    CHECK(sink.last_seqs == source.last_seqs());
}

TEST_CASE("losses are reported although the buffer is closed while it is emptied", "[gateway][durable]") {
    LogBuffer buffer({}, 2);
    Source source(buffer);
    std::mt19937 random(1);
    while (buffer.lost() == 0) {
        source.put(random);
    }
    struct ClosingSink : Sink {
        using Sink::append;
        using Sink::Sink;
        void append(std::span<const TelemetrySample> samples) {
            Sink::append(samples);
            buffer.close();
        }
    } sink(buffer);
    while (buffer.wait_for_load({}, {}, std::chrono::milliseconds(0))) {
        buffer.drain(sink);
    }
    check_complete(buffer, source, sink);
}

TEST_CASE("a requested call is made although nothing is pending", "[gateway][durable]") {
    std::atomic<int> calls{0};
    LogBuffer buffer;
    std::thread log([&] {
        while (buffer.wait_for_load({}, [&] { ++calls; })) {
        }
    });
    for (int call = 1; call <= 2; ++call) {
        buffer.request_call();
        CHECK(eventually([&] { return calls == call; }));
    }
    buffer.close();
    log.join();
}

TEST_CASE("a lost gap keeps its reason unless samples are lost with it", "[gateway][durable]") {
    LogBuffer buffer({}, 1);
    std::vector<TelemetrySample> sample(1);
    sample[0].channel = ChannelId{2};
    sample[0].seq = 1;
    buffer.put(sample);
    buffer.put_gap({ChannelId{0}, 1, 5, store::GapReason::shutdown});
    buffer.put_gap({ChannelId{1}, 1, 5, store::GapReason::queue_overflow});
    sample[0].channel = ChannelId{1};
    sample[0].seq = 6;
    buffer.put(sample);
    sample[0].channel = ChannelId{3};
    buffer.put(sample);
    buffer.put_gap({ChannelId{3}, 7, 9, store::GapReason::shutdown});
    buffer.close();
    struct {
        void append(std::span<const TelemetrySample> /*samples*/) {}
        void append(const store::LogGap& gap) { gaps.push_back(gap); }
        void record_published(std::uint64_t /*samples*/) {}
        void skip(std::uint64_t /*samples*/) {}
        std::vector<store::LogGap> gaps;
    } log;
    buffer.drain(log);
    CHECK(log.gaps == std::vector<store::LogGap>{{ChannelId{0}, 1, 5, store::GapReason::shutdown},
                                                 {ChannelId{1}, 1, 6, store::GapReason::log_slow},
                                                 {ChannelId{3}, 6, 9, store::GapReason::log_slow}});
}

}  // namespace telegate::test
