#include "line/history.hpp"

#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <thread>
#include <vector>

using namespace telegate;

namespace {

/// A sample whose words are derived from its position, so that a torn sample is detected.
TelemetrySample at_position(std::uint64_t position) {
    std::array<std::uint64_t, 8> words;
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = (position + 1) * 0x9E37'79B9'7F4A'7C15U + i;
    }
    return std::bit_cast<TelemetrySample>(words);
}

bool is_whole(const TelemetrySample& sample, std::uint64_t position) {
    const auto words = std::bit_cast<std::array<std::uint64_t, 8>>(sample);
    return words == std::bit_cast<std::array<std::uint64_t, 8>>(at_position(position));
}

struct Written {
    explicit Written(std::size_t capacity, std::uint64_t samples) : history(capacity * sizeof(TelemetrySample)) {
        write(samples);
    }
    void write(std::uint64_t samples) {
        std::vector<TelemetrySample> batch;
        for (std::uint64_t i = 0; i < samples; ++i) {
            batch.push_back(at_position(history.position() + i));
        }
        history.consume(batch);
    }
    History history;
    std::array<TelemetrySample, 100> out;
};

}  // namespace

TEST_CASE("samples are read back in order, from any position", "[gateway][history]") {
    Written h(16, 10);
    const auto read = h.history.read(3, h.out);
    CHECK(read.count == 7);
    CHECK(read.next == 10);
    CHECK(read.missed == 0);
    for (std::size_t i = 0; i < read.count; ++i) {
        CHECK(is_whole(h.out[i], 3 + i));
    }
}

TEST_CASE("there is nothing at the next position or after it", "[gateway][history]") {
    Written h(16, 10);
    const std::uint64_t position = GENERATE(10U, 11U, 1000U);
    const auto read = h.history.read(position, h.out);
    CHECK(read.count == 0);
    CHECK(read.next == position);
    CHECK(read.missed == 0);
}

TEST_CASE("a read fills at most its buffer and returns the position for the next read", "[gateway][history]") {
    Written h(16, 10);
    const auto read = h.history.read(2, std::span(h.out).first(3));
    CHECK(read.count == 3);
    CHECK(read.next == 5);
}

TEST_CASE("overwritten samples are reported as missed, exactly", "[gateway][history]") {
    Written h(16, 10);
    h.write(31);
    CHECK(h.history.oldest() == 25);
    const auto read = h.history.read(4, h.out);
    CHECK(read.missed == 21);
    CHECK(read.count == 16);
    CHECK(read.next == 41);
    for (std::size_t i = 0; i < read.count; ++i) {
        CHECK(is_whole(h.out[i], 25 + i));
    }
}

TEST_CASE("the size is in bytes and allows at least one sample", "[gateway][history]") {
    CHECK(History(1'048'576).capacity() == 16'384);
    CHECK(History(100).capacity() == 1);
    CHECK(History(0).capacity() == 1);
}

TEST_CASE("readers of a fast history get only whole samples and the number of missed ones",
          "[gateway][history][threads]") {
    constexpr std::uint64_t samples = 200'000;
    Written h(512, 0);
    std::atomic<std::uint64_t> torn{0};
    std::atomic<std::uint64_t> unaccounted{0};
    std::vector<std::thread> readers;
    for (const std::size_t room : {1U, 7U, 256U}) {
        readers.emplace_back([&, room] {
            std::vector<TelemetrySample> out(room);
            for (std::uint64_t position = 0; position < samples;) {
                const auto read = h.history.read(position, out);
                unaccounted += position + read.missed + read.count == read.next ? 0U : 1U;
                for (std::size_t i = 0; i < read.count; ++i) {
                    torn += is_whole(out[i], read.next - read.count + i) ? 0U : 1U;
                }
                position = read.next;
            }
        });
    }
    while (h.history.position() < samples) {
        h.write(std::min<std::uint64_t>(100, samples - h.history.position()));
    }
    for (std::thread& reader : readers) {
        reader.join();
    }
    CHECK(torn == 0);
    CHECK(unaccounted == 0);
}

TEST_CASE("a history of another size continues with the samples at their positions", "[gateway][history]") {
    Written h(16, 40);
    const std::size_t capacity = GENERATE(1U, 7U, 16U, 50U);
    CAPTURE(capacity);
    h.history.replace(h.history.prepare({capacity * sizeof(TelemetrySample)}));
    CHECK(h.history.capacity() == capacity);
    CHECK(h.history.position() == 40);
    CHECK(h.history.oldest() == 40 - std::min<std::size_t>(capacity, 16));
    h.write(20);
    const std::uint64_t oldest = std::max<std::uint64_t>(24, 60 - capacity);
    const auto read = h.history.read(0, h.out);
    CHECK(read.missed == oldest);
    REQUIRE(read.next == 60);
    for (std::size_t i = 0; i < read.count; ++i) {
        CHECK(is_whole(h.out[i], oldest + i));
    }
    CHECK(h.history.ledger().taken == 60);
}

TEST_CASE("a reader sees whole samples while the size of the history changes", "[gateway][history]") {
    Written h(64, 64);
    std::atomic<bool> ends{false};
    std::atomic<std::uint64_t> wrong{0};
    std::thread reader([&] {
        std::array<TelemetrySample, 100> out;
        std::uint64_t position = 0;
        while (!ends) {
            const auto read = h.history.read(position, out);
            wrong += position + read.missed + read.count == read.next ? 0 : 1;
            for (std::size_t i = 0; i < read.count; ++i) {
                wrong += is_whole(out[i], read.next - read.count + i) ? 0 : 1;
            }
            position = read.next;
        }
    });
    for (std::size_t round = 0; round < 300; ++round) {
        h.write(10);
        h.history.replace(h.history.prepare({(1 + round * 37 % 200) * sizeof(TelemetrySample)}));
    }
    ends = true;
    reader.join();
    CHECK(wrong == 0);
}

namespace {

/// One sample per second, the first one now.
struct Aged {
    explicit Aged(std::size_t capacity, std::chrono::seconds age_max)
        : history(capacity * sizeof(TelemetrySample), age_max, &clock) {}
    void write(std::size_t samples, std::int64_t utc_step_ns = 0) {
        for (std::size_t i = 0; i < samples; ++i) {
            TelemetrySample sample{};
            sample.time_mono_ns = to_ns(clock.mono_now());
            sample.time_utc_ns = clock.utc_now_ns() + utc_step_ns;
            history.consume({&sample, 1});
            clock.advance(std::chrono::seconds(1));
        }
    }
    test::ManualClock clock;
    History history;
    std::array<TelemetrySample, 100> out{};
};

constexpr std::int64_t second_ns = 1'000'000'000;

}  // namespace

TEST_CASE("samples that are too old are not returned and are counted as missed", "[gateway][history]") {
    Aged h(64, std::chrono::seconds(10));
    h.write(30);  // the last sample is one second old
    CHECK(h.history.oldest() == 20);
    const auto read = h.history.read(5, h.out);
    CHECK(read.missed == 15);
    CHECK(read.count == 10);
    CHECK(read.next == 30);
    h.clock.advance(std::chrono::seconds(100));
    CHECK(h.history.oldest() == 30);
    CHECK(h.history.read(25, h.out).missed == 5);
    h.write(3);
    CHECK(h.history.oldest() == 30);
    CHECK(h.history.read(0, h.out).count == 3);
}

TEST_CASE("a longer age limit shows the samples that are still in memory", "[gateway][history]") {
    Aged h(64, std::chrono::seconds(10));
    h.write(30);
    CHECK(h.history.oldest() == 20);
    h.history.replace(h.history.prepare({64 * sizeof(TelemetrySample), std::chrono::seconds(25)}));
    CHECK(h.history.oldest() == 5);
    CHECK(h.history.read(5, h.out).count == 25);
}

TEST_CASE("the age limit and the size limit apply together", "[gateway][history]") {
    Aged h(8, std::chrono::seconds(10));
    h.write(30);
    CHECK(h.history.oldest() == 22);
    h.clock.advance(std::chrono::seconds(5));
    CHECK(h.history.oldest() == 25);
}

TEST_CASE("a time is found at the position of its first sample", "[gateway][history]") {
    Aged h(5'000, std::chrono::seconds(0));
    const MonoTime begin = h.clock.mono_now();
    const std::int64_t begin_ns = h.clock.utc_now_ns();
    h.write(7'000);
    const std::uint64_t wanted = GENERATE(0U, 1'999U, 2'000U, 2'001U, 4'567U, 6'999U, 7'000U, 9'000U);
    const std::uint64_t found = std::clamp<std::uint64_t>(wanted, 2'000, 7'000);
    CHECK(h.history.first_since(begin + std::chrono::seconds(wanted)) == found);
    CHECK(h.history.first_since_utc(begin_ns + static_cast<std::int64_t>(wanted) * second_ns) == found);
    CHECK(h.history.first_since_utc(begin_ns + static_cast<std::int64_t>(wanted) * second_ns - 1) == found);
}

TEST_CASE("a clock that was set back or forward hides no sample of a time", "[gateway][history]") {
    Aged h(5'000, std::chrono::seconds(0));
    const std::int64_t begin_ns = h.clock.utc_now_ns();
    h.write(1'000);
    h.write(1'000, GENERATE(-500, -5'000, 3'000) * second_ns);
    h.write(1'000);
    const std::int64_t wanted = GENERATE(0, 400, 900, 1'500, 2'400, 2'999);
    const std::uint64_t found = h.history.first_since_utc(begin_ns + wanted * second_ns);
    std::array<TelemetrySample, 1> before{};
    for (std::uint64_t position = 0; position < found; ++position) {
        (void)h.history.read(position, before);
        CHECK(before[0].time_utc_ns < begin_ns + wanted * second_ns);
    }
}
