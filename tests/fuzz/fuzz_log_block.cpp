// Needs: telegate_store telegate_zstd

// Blocks of the durable log. The first byte selects whether the rest of the payload is compressed here, so that the
// fuzzer reaches what is behind the decompressor; the next two bytes are the size of the header.
#include "fuzz/largest_allocation.hpp"
#include "store/block.hpp"

#include "core/assert.hpp"
#include "core/bytes.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <vector>

namespace {

using namespace telegate;
using namespace telegate::store;

constexpr std::size_t header_bytes = 3;
/// The largest allocation is a chunk, whose size the format limits. zstd allocates on its own.
constexpr std::size_t allocation_bytes_max = 4'194'304;

bool are_equal(std::span<const TelemetrySample> a, std::span<const TelemetrySample> b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(static_cast<const void*>(a.data()), b.data(), a.size_bytes()) == 0);
}

/// Makes the payload whose chunks have the bytes of `raw` after decompression.
ByteBuffer compress(Bytes raw, BlockHead& head) {
    ByteBuffer payload;
    for (BlockChunk& chunk : head.chunks) {
        const Bytes part = raw.first(std::min<std::size_t>(chunk.raw_bytes, raw.size()));
        raw = raw.subspan(part.size());
        ByteBuffer stored(ZSTD_compressBound(part.size()));
        constexpr int fastest = -5;
        stored.resize(ZSTD_compress(stored.data(), stored.size(), part.data(), part.size(), fastest));
        chunk.raw_bytes = static_cast<std::uint32_t>(part.size());
        chunk.stored_bytes = static_cast<std::uint32_t>(stored.size());
        payload.insert(payload.end(), stored.begin(), stored.end());
    }
    return payload;
}

void set_checksums(Bytes payload, BlockHead& head) {
    for (BlockChunk& chunk : head.chunks) {
        const Bytes stored = payload.first(std::min<std::size_t>(chunk.stored_bytes, payload.size()));
        payload = payload.subspan(stored.size());
        chunk.checksum = crc32c(stored);
    }
}

/// Samples and gaps have the order that the header promises.
void check_order(const BlockHead& head, std::span<const TelemetrySample> samples) {
    TELEGATE_ASSERT(samples.size() == head.samples);
    for (const BlockChannel& channel : head.channels) {
        std::uint64_t last = 0;
        std::uint32_t count = 0;
        for (const TelemetrySample& sample : samples) {
            if (sample.channel == channel.channel) {
                TELEGATE_ASSERT(count > 0 ? sample.seq > last : sample.seq == channel.first_seq);
                last = sample.seq;
                ++count;
            }
        }
        TELEGATE_ASSERT(count == channel.samples && last == channel.last_seq);
    }
}

/// One channel has the same samples when it is read alone.
void check_channels(BlockDecoder& decoder, const BlockHead& head, Bytes payload,
                    std::span<const TelemetrySample> samples) {
    constexpr std::size_t channels_checked_max = 16;
    for (std::size_t i = 0; i < std::min(head.channels.size(), channels_checked_max); ++i) {
        const ChannelId channel = head.channels[head.channels.size() - 1 - i].channel;
        std::vector<TelemetrySample> expected;
        std::copy_if(samples.begin(), samples.end(), std::back_inserter(expected),
                     [&](const TelemetrySample& sample) { return sample.channel == channel; });
        std::vector<TelemetrySample> alone;
        TELEGATE_ASSERT(decoder.decode_channel(head, payload, channel, alone));
        TELEGATE_ASSERT(are_equal(alone, expected));
    }
}

/// Checks that decoded samples encode to a block that decodes to the same samples.
void check_encoding(BlockDecoder& decoder, const BlockHead& head, std::span<const TelemetrySample> samples) {
    BlockEncoder encoder;
    auto next_skip = head.skips.begin();
    const auto skip = [&] {
        for (; next_skip != head.skips.end() && next_skip->before_sample == encoder.samples(); ++next_skip) {
            encoder.skip(next_skip->samples);
        }
    };
    for_entries(
        samples, head.gaps, [&](const BlockGap& gap) { encoder.add(gap.gap); },
        [&](const TelemetrySample& sample) {
            skip();
            encoder.add(sample);
        });
    skip();
    BlockHead described;
    ByteBuffer head_bytes;
    ByteBuffer payload;
    encoder.encode(head.published_before, described, head_bytes, payload);
    BlockHead again;
    std::vector<TelemetrySample> decoded;
    TELEGATE_ASSERT(BlockDecoder::read_head(head_bytes, again));
    TELEGATE_ASSERT(again.payload_bytes() == payload.size() && again.published_before == head.published_before &&
                    again.published_after() == head.published_after());
    TELEGATE_ASSERT(std::equal(again.channels.begin(), again.channels.end(), head.channels.begin(), head.channels.end(),
                               [](const BlockChannel& a, const BlockChannel& b) {
                                   return a.channel == b.channel && a.samples == b.samples &&
                                          a.first_seq == b.first_seq && a.last_seq == b.last_seq;
                               }));
    TELEGATE_ASSERT(std::equal(
        again.gaps.begin(), again.gaps.end(), head.gaps.begin(), head.gaps.end(),
        [](const BlockGap& a, const BlockGap& b) { return a.before_sample == b.before_sample && a.gap == b.gap; }));
    TELEGATE_ASSERT(decoder.decode(again, payload, decoded));
    TELEGATE_ASSERT(are_equal(decoded, samples));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < header_bytes) {
        return 0;
    }
    const bool is_compressed_here = (data[0] & 1U) != 0;
    const Bytes bytes = std::as_bytes(std::span(data, size)).subspan(header_bytes);
    const std::size_t head_bytes = std::min<std::size_t>(data[1] | std::size_t{data[2]} << 8U, bytes.size());
    largest_allocation = 0;
    BlockHead head;
    if (!BlockDecoder::read_head(bytes.first(head_bytes), head)) {
        TELEGATE_ASSERT(largest_allocation <= allocation_bytes_max);
        return 0;
    }
    const Bytes rest = bytes.subspan(head_bytes);
    const ByteBuffer payload = is_compressed_here ? compress(rest, head) : ByteBuffer(rest.begin(), rest.end());
    set_checksums(payload, head);

    static BlockDecoder decoder;  // reused, as readers do
    std::vector<TelemetrySample> samples;
    largest_allocation = 0;
    const bool is_decoded = decoder.decode(head, payload, samples);
    TELEGATE_ASSERT(largest_allocation <= allocation_bytes_max);
    if (!is_decoded) {
        TELEGATE_ASSERT(samples.empty());
        for (const BlockChannel& channel :
             std::span(head.channels).first(std::min<std::size_t>(head.channels.size(), 4))) {
            samples.clear();
            TELEGATE_ASSERT(decoder.decode_channel(head, payload, channel.channel, samples) == !samples.empty());
        }
        return 0;
    }
    check_order(head, samples);
    check_channels(decoder, head, payload, samples);
    check_encoding(decoder, head, samples);
    return 0;
}
