#include "store/block.hpp"

#include "store/log_model.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <utility>

namespace telegate::store {
namespace {

struct Encoded {
    BlockHead described;
    ByteBuffer head;
    ByteBuffer payload;
};

Encoded encode(const std::vector<TelemetrySample>& samples, const std::vector<BlockGap>& gaps = {}) {
    BlockEncoder encoder;
    std::size_t gap = 0;
    for (std::size_t i = 0; i <= samples.size(); ++i) {
        for (; gap < gaps.size() && gaps[gap].before_sample == i; ++gap) {
            encoder.add(gaps[gap].gap);
        }
        if (i < samples.size()) {
            encoder.add(samples[i]);
        }
    }
    Encoded encoded;
    encoder.encode(12'345, encoded.described, encoded.head, encoded.payload);
    return encoded;
}

std::vector<TelemetrySample> decode(const Encoded& encoded) {
    BlockHead head;
    REQUIRE(BlockDecoder::read_head(encoded.head, head));
    std::vector<TelemetrySample> samples;
    BlockDecoder decoder;
    REQUIRE(decoder.decode(head, encoded.payload, samples));
    return samples;
}

bool are_equal(const std::vector<TelemetrySample>& a, const std::vector<TelemetrySample>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(static_cast<const void*>(a.data()), b.data(),
                                                             a.size() * sizeof(TelemetrySample)) == 0);
}

TelemetrySample real_sample(std::uint64_t seq, double value) {
    TelemetrySample sample = make_sample(1, ChannelId{0}, seq);
    std::memset(&sample.value, 0, sizeof sample.value);
    sample.type = ValueType::real;
    sample.text_bytes = 0;
    sample.quality = Quality::good;
    sample.flags = 0;
    sample.value.real = value;
    return sample;
}

std::vector<TelemetrySample> random_samples(std::uint64_t seed, std::size_t count, std::uint32_t channels) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> seqs(channels);
    std::vector<TelemetrySample> samples;
    std::uint32_t channel = 0;
    for (std::size_t i = 0; i < count; ++i) {
        channel = random() % 8 == 0 ? static_cast<std::uint32_t>(random() % channels) : (channel + 1) % channels;
        seqs[channel] += random() % 50 == 0 ? 3U : 1U;
        samples.push_back(make_sample(7, static_cast<ChannelId>(channel), seqs[channel]));
        if (random() % 3 != 0 && samples.size() > 1) {
            samples.back().time_utc_ns = samples[samples.size() - 2].time_utc_ns;
            samples.back().time_mono_ns = samples[samples.size() - 2].time_mono_ns;
        }
    }
    return samples;
}

}  // namespace

TEST_CASE("a block gives back exactly the samples that were added", "[store][block]") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const auto count = static_cast<std::size_t>(1 + seed * seed * 4 % BlockEncoder::samples_max);
        const auto samples = random_samples(seed, count, static_cast<std::uint32_t>(1 + seed * 17 % 900));
        CHECK(are_equal(decode(encode(samples)), samples));
    }
}

TEST_CASE("a block keeps every bit of floating-point values", "[store][block]") {
    const std::vector<double> values = {0.0,
                                        -0.0,
                                        1.5,
                                        0.1,
                                        -273.15,
                                        1e300,
                                        5e-324,
                                        std::numeric_limits<double>::infinity(),
                                        -std::numeric_limits<double>::infinity(),
                                        std::numeric_limits<double>::quiet_NaN(),
                                        0x1p51,
                                        0x1p53 + 2,
                                        123456789.123456789};
    std::vector<TelemetrySample> all;
    for (const double value : values) {
        std::vector<TelemetrySample> one = {real_sample(1, value), real_sample(2, value)};
        CHECK(are_equal(decode(encode(one)), one));
        all.push_back(real_sample(all.size() + 1, value));
    }
    CHECK(are_equal(decode(encode(all)), all));
}

TEST_CASE("decimal values take fewer bytes than their bit patterns", "[store][block]") {
    std::mt19937_64 random(1);
    std::vector<TelemetrySample> samples;
    for (std::uint64_t i = 1; i <= 1000; ++i) {
        samples.push_back(real_sample(i, static_cast<double>(2000 + random() % 64) / 100));
    }
    CHECK(encode(samples).payload.size() < 2 * samples.size());
}

TEST_CASE("one channel can be read from a block without the others", "[store][block]") {
    const auto samples = random_samples(3, 9000, 200);
    const Encoded encoded = encode(samples);
    BlockHead head;
    REQUIRE(BlockDecoder::read_head(encoded.head, head));
    BlockDecoder decoder;
    for (const std::uint32_t channel : {0U, 1U, 77U, 199U}) {
        std::vector<TelemetrySample> expected;
        std::copy_if(samples.begin(), samples.end(), std::back_inserter(expected),
                     [&](const TelemetrySample& sample) { return to_index(sample.channel) == channel; });
        std::vector<TelemetrySample> read;
        CHECK(decoder.decode_channel(head, encoded.payload, static_cast<ChannelId>(channel), read));
        CHECK(are_equal(read, expected));
    }
    std::vector<TelemetrySample> none;
    CHECK_FALSE(decoder.decode_channel(head, encoded.payload, ChannelId{5000}, none));
    CHECK(none.empty());
}

TEST_CASE("the header of a block lists its channels, gaps and times", "[store][block]") {
    const std::vector<TelemetrySample> samples = {real_sample(4, 1), real_sample(5, 2), real_sample(9, 3)};
    const std::vector<BlockGap> gaps = {{0, {ChannelId{0}, 1, 3, GapReason::queue_overflow}},
                                        {2, {ChannelId{0}, 6, 8, GapReason::log_slow}},
                                        {3, {ChannelId{2}, 1, 1, GapReason::shutdown}}};
    const Encoded encoded = encode(samples, gaps);
    BlockHead head;
    REQUIRE(BlockDecoder::read_head(encoded.head, head));
    CHECK(head.samples == 3);
    CHECK(head.entries() == 6);
    CHECK(head.published_before == 12'345);
    REQUIRE(head.channels.size() == 1);
    CHECK(head.channels[0].first_seq == 4);
    CHECK(head.channels[0].last_seq == 9);
    CHECK(head.channels[0].has_holes());
    REQUIRE(head.gaps.size() == 3);
    for (std::size_t i = 0; i < gaps.size(); ++i) {
        CHECK(head.gaps[i].before_sample == gaps[i].before_sample);
        CHECK(head.gaps[i].gap == gaps[i].gap);
    }
    CHECK(head.utc_min_ns == samples.front().time_utc_ns);
    CHECK(head.utc_max_ns == samples.back().time_utc_ns);
    CHECK(are_equal(decode(encoded), samples));
}

TEST_CASE("the header of a block lists what the log leaves out", "[store][block]") {
    BlockEncoder encoder;
    encoder.skip(3);
    encoder.skip(4);
    encoder.add(real_sample(1, 1));
    encoder.add(real_sample(2, 2));
    encoder.skip(1'000'000);
    encoder.add(real_sample(3, 3));
    encoder.skip(5);
    CHECK(encoder.published() == 1'000'015);
    BlockHead described;
    Encoded encoded;
    encoder.encode(100, described, encoded.head, encoded.payload);
    encoded.head.resize(encoded.head.size() + 7);  // padding
    BlockHead head;
    REQUIRE(BlockDecoder::read_head(encoded.head, head));
    CHECK(head.published_after() == 1'000'115);
    std::vector<std::pair<std::uint32_t, std::uint64_t>> skips;
    for (const BlockSkip& skip : head.skips) {
        skips.emplace_back(skip.before_sample, skip.samples);
    }
    CHECK(skips == std::vector<std::pair<std::uint32_t, std::uint64_t>>{{0, 7}, {2, 1'000'000}, {3, 5}});
    CHECK(decode(encoded).size() == 3);
}

TEST_CASE("a block can consist of gaps alone", "[store][block]") {
    const Encoded encoded = encode({}, {{0, {ChannelId{1}, 1, 10, GapReason::crash}}});
    CHECK(encoded.payload.empty());
    CHECK(decode(encoded).empty());
}

TEST_CASE("any changed byte of a block is noticed or changes nothing", "[store][block]") {
    const auto samples = random_samples(5, 40, 4);
    const Encoded encoded = encode(samples);
    BlockDecoder decoder;
    for (std::size_t at = 0; at < encoded.payload.size(); ++at) {
        ByteBuffer payload = encoded.payload;
        payload[at] ^= std::byte{0x40};
        std::vector<TelemetrySample> read;
        CHECK_FALSE(decoder.decode(encoded.described, payload, read));
        CHECK(read.empty());
    }
    for (std::size_t at = 0; at < encoded.head.size(); ++at) {
        for (const unsigned bit : {1U, 16U, 128U}) {
            ByteBuffer bytes = encoded.head;
            bytes[at] ^= static_cast<std::byte>(bit);
            BlockHead head;
            std::vector<TelemetrySample> read;
            // Without the checksum of its record, a header may be wrong; decoding must still be safe.
            static_cast<void>(BlockDecoder::read_head(bytes, head) && decoder.decode(head, encoded.payload, read));
        }
    }
    for (std::size_t size = 0; size < encoded.head.size(); ++size) {
        BlockHead head;
        CHECK_FALSE(BlockDecoder::read_head(std::span(encoded.head).first(size), head));
    }
}

}  // namespace telegate::store
