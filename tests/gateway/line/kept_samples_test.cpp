#include "line/history.hpp"
#include "support/catch.hpp"
#include "support/manual_clock.hpp"
#include "support/rounds.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

using namespace telegate;

namespace {

constexpr std::size_t history_bytes = 65'536;  // 768 samples of all channels, 227 of quiet ones
constexpr std::size_t kept_max = history_bytes / 4 / KeptSamples::bytes_per_sample;

/// A history, and all samples that were written to it.
struct WrittenKept {
    explicit WrittenKept(std::size_t per_channel = 16, Duration age_max = Duration(0))
        : history(history_bytes, age_max, &clock, per_channel) {}

    void write(std::uint32_t channel, std::size_t samples = 1) {
        for (std::size_t i = 0; i < samples; ++i) {
            TelemetrySample sample{};
            sample.channel = ChannelId{channel};
            sample.seq = ++last[channel];
            sample.time_mono_ns = to_ns(clock.mono_now());
            sample.time_utc_ns = clock.utc_now_ns();
            all.push_back(sample);
            history.consume({&sample, 1});
        }
    }
    /// Returns the held sequence numbers of each channel. Checks that each sample is the one that was written.
    std::map<std::uint32_t, std::vector<std::uint64_t>> held() {
        std::map<std::uint32_t, std::vector<std::uint64_t>> result;
        std::vector<TelemetrySample> out(100);
        for (std::uint64_t position = history.first(); position < history.position();) {
            const auto read = history.read(position, out);
            REQUIRE(position + read.missed + read.count == read.next);
            for (std::size_t i = 0; i < read.count; ++i) {
                const TelemetrySample& written = all[static_cast<std::size_t>(read.next) - read.count + i];
                CHECK(std::pair(out[i].channel, out[i].seq) == std::pair(written.channel, written.seq));
                result[to_index(out[i].channel)].push_back(out[i].seq);
            }
            position = read.next;
        }
        return result;
    }

    test::ManualClock clock;
    History history;
    std::vector<TelemetrySample> all;  // by position
    std::map<std::uint32_t, std::uint64_t> last;
};

/// Returns whether `seqs` are the last numbers up to `last`, at least `least` of them.
bool are_last(const std::vector<std::uint64_t>& seqs, std::uint64_t last, std::size_t least) {
    bool result = seqs.size() >= std::min<std::uint64_t>(least, last);
    for (std::size_t i = 0; i < seqs.size(); ++i) {
        result = result && seqs[i] == last - (seqs.size() - 1 - i);
    }
    return result;
}

}  // namespace

TEST_CASE("a channel keeps its last samples, however many samples of another channel follow", "[gateway][history]") {
    WrittenKept h;
    h.write(0, 20);
    h.write(1, 100'000);
    auto held = h.held();
    CHECK(are_last(held[0], 20, 16));
    CHECK(held[0].size() == 16);
    CHECK(held[1].size() == h.history.capacity());
    CHECK(h.history.kept()->share() == 16);
    h.write(0, 3);
    h.write(1, 100'000);
    held = h.held();
    CHECK(are_last(held[0], 23, 16));
    CHECK(held[1].size() == h.history.capacity());
}

TEST_CASE("without a minimum per channel all memory is used for the most recent samples", "[gateway][history]") {
    WrittenKept h(0);
    h.write(0, 20);
    h.write(1, 100'000);
    CHECK(h.history.kept() == nullptr);
    CHECK(h.history.capacity() == history_bytes / sizeof(TelemetrySample));
    CHECK(h.held().size() == 1);
}

TEST_CASE("all held samples fit in the memory of the history", "[gateway][history]") {
    const std::size_t per_channel = GENERATE(1U, 16U, 10'000U);
    WrittenKept h(per_channel);
    CHECK(h.history.capacity() * sizeof(TelemetrySample) +
              h.history.kept()->capacity() * KeptSamples::bytes_per_sample <=
          history_bytes);
    CHECK(h.history.kept()->capacity() == kept_max);
}

TEST_CASE("all channels keep fewer samples when memory is short, and more when memory is free again",
          "[gateway][history]") {
    WrittenKept h;
    for (std::size_t round = 0; round < 16; ++round) {
        for (std::uint32_t channel = 1; channel <= 60; ++channel) {
            h.write(channel);
        }
    }
    h.write(0, 10'000);
    const std::size_t share = h.history.kept()->share();
    CHECK(share == 2);
    auto held = h.held();
    for (std::uint32_t channel = 1; channel <= 60; ++channel) {
        CHECK(are_last(held[channel], 16, share));
    }
    // Now only channel 1 needs additional memory.
    for (std::size_t round = 0; round < 20'000 && h.history.kept()->share() < 8; ++round) {
        for (std::uint32_t channel = 2; channel <= 60; ++channel) {
            h.write(channel);
        }
        h.write(round % 20 == 0 ? 1 : 0);
    }
    CHECK(h.history.kept()->share() == 8);
}

TEST_CASE("with more channels than the memory can hold, the newest samples are kept", "[gateway][history]") {
    WrittenKept h;
    for (std::uint32_t channel = 1; channel <= 600; ++channel) {
        h.write(channel, 2);
    }
    h.write(0, 10'000);
    CHECK(h.history.kept()->share() == 1);
    CHECK(h.history.kept()->held() <= kept_max);
    auto held = h.held();
    CHECK(held.size() > kept_max / 2);
    std::uint32_t oldest = 600;
    while (held.contains(oldest)) {
        --oldest;
    }
    CHECK(std::all_of(held.begin(), held.end(),
                      [&](const auto& each) { return each.first == 0 || each.first > oldest; }));
}

TEST_CASE("at any rates the held samples of a channel are its last ones without a gap", "[gateway][history]") {
    const unsigned seed = GENERATE(range(0U, test::rounds(30U)));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto any = [&](std::uint32_t from, std::uint32_t to) {
        return std::uniform_int_distribution<std::uint32_t>(from, to)(random);
    };
    WrittenKept h(any(1, 40));
    for (int phase = 0; phase < 12; ++phase) {
        // One device floods, some others are quiet; their roles change.
        const std::uint32_t fast = any(0, 30);
        const std::uint32_t quiet = any(1, 30);
        for (std::uint32_t samples = any(1, 4'000); samples > 0; --samples) {
            h.write(any(0, 9) == 0 ? any(0, quiet) : fast);
        }
        for (const auto& [channel, seqs] : h.held()) {
            CAPTURE(phase, channel);
            CHECK(are_last(seqs, h.last[channel], std::min<std::size_t>(2, h.history.kept()->per_channel())));
        }
        CHECK(h.held().size() == h.last.size());
        CHECK(h.history.kept()->held() <= kept_max);
    }
}

TEST_CASE("samples of quiet channels are found by time, and hidden when they are too old", "[gateway][history]") {
    WrittenKept h(16, std::chrono::hours(1));
    const MonoTime begin = h.clock.mono_now();
    const std::int64_t begin_ns = h.clock.utc_now_ns();
    for (std::size_t i = 0; i < 10; ++i) {
        h.write(0);
        h.clock.advance(std::chrono::minutes(1));
    }
    h.write(1, 5'000);
    CHECK(h.history.first() == 0);
    CHECK(h.history.first_since(begin) == 0);
    CHECK(h.history.first_since(begin + std::chrono::minutes(4)) == 4);
    CHECK(h.history.first_since_utc(begin_ns + 240'000'000'000) == 4);
    CHECK(h.history.first_since(begin + std::chrono::minutes(10)) == h.history.oldest());
    h.clock.advance(std::chrono::seconds(55 * 60 + 1));
    CHECK(h.history.first() == 6);
    CHECK(h.held()[0] == std::vector<std::uint64_t>{7, 8, 9, 10});
    CHECK(h.history.first_since(begin) == 6);
    h.clock.advance(std::chrono::hours(2));
    CHECK(h.history.first() == h.history.position());
}

TEST_CASE("readers get only whole samples of quiet channels while others are written fast",
          "[gateway][history][threads]") {
    constexpr std::uint64_t samples = 200'000;
    History history(history_bytes, Duration(0), nullptr, 16);
    std::atomic<std::uint64_t> wrong{0};
    std::vector<std::thread> readers;
    for (const std::size_t room : {1U, 7U, 256U}) {
        readers.emplace_back([&, room] {
            std::vector<TelemetrySample> out(room);
            while (history.position() < samples) {
                const std::uint64_t begin = history.first();
                const auto read = history.read(begin, out);
                wrong += begin + read.missed + read.count == read.next ? 0U : 1U;
                for (std::size_t i = 0; i < read.count; ++i) {
                    // Position, time and number are the same; the channel is derived from them.
                    const std::uint64_t position = read.next - read.count + i;
                    const bool is_whole = out[i].seq == position + 1 && out[i].value.integer == out[i].time_mono_ns &&
                                          static_cast<std::uint64_t>(out[i].time_mono_ns) == position;
                    wrong += is_whole ? 0U : 1U;
                }
            }
        });
    }
    std::mt19937 random(1);
    for (std::uint64_t position = 0; position < samples; ++position) {
        TelemetrySample sample{};
        const bool is_quiet = random() % 20 == 0;
        sample.channel = static_cast<ChannelId>(is_quiet ? random() % 40 : 50);
        sample.seq = position + 1;  // also ascending per channel
        sample.time_mono_ns = static_cast<std::int64_t>(position);
        sample.value.integer = sample.time_mono_ns;
        history.consume({&sample, 1});
    }
    for (std::thread& reader : readers) {
        reader.join();
    }
    CHECK(wrong == 0);
}

TEST_CASE("samples of quiet channels survive another size of the history", "[gateway][history]") {
    WrittenKept h;
    h.write(7, 20);
    h.write(1, 2'000);
    h.write(7, 2);
    h.write(1, 2'000);
    const auto before = h.held();
    REQUIRE(before.at(7).size() >= 16);
    h.history.replace(h.history.prepare({2 * history_bytes, Duration(0), 16}));
    CHECK(h.held() == before);
    h.history.replace(h.history.prepare({history_bytes, Duration(0), 16}));
    CHECK(h.held() == before);
    h.write(1, 5'000);
    CHECK(h.held().at(7).size() >= 16);
    h.history.replace(h.history.prepare({history_bytes, Duration(0), 0}));
    CHECK_FALSE(h.held().contains(7));
    CHECK(h.history.kept() == nullptr);
}
