#include "codec/block_parts.hpp"
#include "codec/integer_column.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace telegate::store {
namespace {

constexpr std::size_t chunk_raw_bytes_max = 4'194'304;
constexpr std::uint8_t reasons_end = static_cast<std::uint8_t>(GapReason::unknown) + 1;
constexpr std::size_t channel_ids_max = 65'536;
/// Decades of samples at any rate. The sum of a block does not overflow.
constexpr std::uint64_t skip_samples_max = std::uint64_t{1} << 48U;

/// Reads one column after the other, so that the memory for one is enough.
void read_channels(ByteReader& in, BlockHead& head, std::vector<std::uint64_t>& numbers) {
    std::uint64_t next_id = 0;
    std::uint64_t samples = 0;
    bool is_valid = true;
    const auto column = [&](const auto& set) {
        decode_integers(in, numbers);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            set(head.channels[i], numbers[i]);
        }
    };
    numbers.resize(head.channels.size());
    column([&](BlockChannel& channel, std::uint64_t id) {
        is_valid &= id >= next_id && id < channel_ids_max;
        next_id = id + 1;
        channel.channel = static_cast<ChannelId>(id);
    });
    column([&](BlockChannel& channel, std::uint64_t count) {
        is_valid &= count > 0 && count <= head.samples;
        samples += count;
        channel.samples = static_cast<std::uint32_t>(count);
    });
    column([&](BlockChannel& channel, std::uint64_t first_seq) {
        is_valid &= first_seq > 0;
        channel.first_seq = first_seq;
    });
    column([&](BlockChannel& channel, std::uint64_t distance) {
        channel.last_seq = channel.first_seq + (channel.samples - 1) + distance;
        is_valid &= channel.last_seq >= distance && channel.last_seq - distance >= channel.first_seq;
    });
    if (!is_valid || samples != head.samples) {
        in.fail();
    }
}

void read_gaps(ByteReader& in, BlockHead& head, std::vector<std::uint64_t>& numbers) {
    const auto column = [&](const auto& set) {
        read_column(in, head.gaps, set, numbers);
    };
    column([&](BlockGap& gap, std::uint64_t before) { gap.before_sample = in.narrow(before); });
    column([&](BlockGap& gap, std::uint64_t id) { gap.gap.channel = static_cast<ChannelId>(in.narrow(id)); });
    column([](BlockGap& gap, std::uint64_t seq) { gap.gap.first_seq = seq; });
    column([](BlockGap& gap, std::uint64_t more) { gap.gap.last_seq = gap.gap.first_seq + more; });
    column([&](BlockGap& gap, std::uint64_t reason) {
        if (reason == 0 || reason >= reasons_end) {
            in.fail();
        }
        gap.gap.reason = static_cast<GapReason>(reason);
    });
    std::uint32_t before = 0;
    for (const BlockGap& gap : head.gaps) {
        if (gap.before_sample < before || gap.before_sample > head.samples || gap.gap.first_seq == 0 ||
            gap.gap.last_seq < gap.gap.first_seq || to_index(gap.gap.channel) >= channel_ids_max) {
            return in.fail();
        }
        before = gap.before_sample;
    }
}

/// They are only there if the log leaves out devices; otherwise, the header ends here or is padded with zeros.
void read_skips(ByteReader& in, BlockHead& head, std::vector<std::uint64_t>& numbers) {
    const std::uint32_t skips = in.left() == 0 ? 0 : in.varint_32();
    if (skips > head.samples + std::uint64_t{1}) {
        return in.fail();
    }
    head.skips.assign(skips, {});
    read_column(
        in, head.skips, [&](BlockSkip& skip, std::uint64_t before) { skip.before_sample = in.narrow(before); },
        numbers);
    read_column(
        in, head.skips, [](BlockSkip& skip, std::uint64_t samples) { skip.samples = samples; }, numbers);
    std::uint32_t next = 0;
    for (const BlockSkip& skip : head.skips) {
        if (skip.before_sample < next || skip.before_sample > head.samples || skip.samples == 0 ||
            skip.samples > skip_samples_max) {
            return in.fail();
        }
        next = skip.before_sample + 1;
    }
}

void read_chunks(ByteReader& in, BlockHead& head) {
    std::uint64_t stored_bytes = 0;
    for (std::size_t i = 0; i < head.chunks.size() && !in.failed(); ++i) {
        BlockChunk& chunk = head.chunks[i];
        chunk.raw_bytes = in.varint_32();
        chunk.stored_bytes = in.varint_32();
        chunk.first_channel = in.varint_32();
        chunk.checksum = in.number<std::uint32_t>();
        const bool is_in_order =
            i < 2 ? chunk.first_channel == 0 : head.chunks[i - 1].first_channel < chunk.first_channel;
        stored_bytes += chunk.stored_bytes;
        if (chunk.raw_bytes > chunk_raw_bytes_max || chunk.stored_bytes > chunk_raw_bytes_max ||
            stored_bytes > BlockHead::payload_bytes_max || !is_in_order ||
            chunk.first_channel >= head.channels.size()) {
            return in.fail();
        }
    }
}

}  // namespace

std::string_view to_string(GapReason reason) noexcept {
    switch (reason) {
        case GapReason::queue_overflow: return "queue_overflow";
        case GapReason::shutdown: return "shutdown";
        case GapReason::log_slow: return "log_slow";
        case GapReason::log_full: return "log_full";
        case GapReason::crash: return "crash";
        case GapReason::damaged: return "damaged";
        case GapReason::retention: return "retention";
        case GapReason::refused: return "refused";
        case GapReason::unknown: break;
    }
    return "unknown";
}

std::uint64_t BlockHead::published_after() const noexcept {
    return std::accumulate(skips.begin(), skips.end(), published_before + samples,
                           [](std::uint64_t sum, const BlockSkip& skip) { return sum + skip.samples; });
}

std::size_t BlockHead::payload_bytes() const noexcept {
    return std::accumulate(chunks.begin(), chunks.end(), std::size_t{0},
                           [](std::size_t sum, const BlockChunk& chunk) { return sum + chunk.stored_bytes; });
}

const BlockChannel* BlockHead::find(ChannelId channel) const noexcept {
    const auto found =
        std::lower_bound(channels.begin(), channels.end(), channel,
                         [](const BlockChannel& each, ChannelId id) { return to_index(each.channel) < to_index(id); });
    return found != channels.end() && found->channel == channel ? &*found : nullptr;
}

std::size_t BlockHead::chunk_of(const BlockChannel& channel) const noexcept {
    const auto place = static_cast<std::size_t>(&channel - channels.data());
    std::size_t chunk = chunks.empty() ? 0 : chunks.size() - 1;
    while (chunk > 1 && chunks[chunk].first_channel > place) {
        --chunk;
    }
    return chunk;
}

void add_to_channels(const std::vector<BlockChannel>& block, std::vector<BlockChannel>& all) {
    const auto by_id = [](const BlockChannel& a, const BlockChannel& b) {
        return to_index(a.channel) < to_index(b.channel);
    };
    auto place = all.begin();
    std::vector<BlockChannel> added;
    for (const BlockChannel& channel : block) {
        place = std::lower_bound(place, all.end(), channel, by_id);
        if (place != all.end() && place->channel == channel.channel) {
            place->samples += channel.samples;
            place->last_seq = channel.last_seq;
        } else {
            added.push_back(channel);
        }
    }
    const auto middle = static_cast<std::ptrdiff_t>(all.size());
    all.insert(all.end(), added.begin(), added.end());
    std::inplace_merge(all.begin(), all.begin() + middle, all.end(), by_id);
}

void append_block_head(const BlockHead& block, std::vector<std::uint64_t>& scratch, ByteBuffer& out) {
    append_varint(out, block.samples);
    append_varint(out, block.gaps.size());
    append_varint(out, block.channels.size());
    append_varint(out, block.chunks.size());
    append_varint(out, block.published_before);
    append_number(out, block.utc_min_ns);
    append_number(out, block.utc_max_ns);
    append_column(
        block.channels, [](const BlockChannel& each) { return to_index(each.channel); }, scratch, out);
    append_column(
        block.channels, [](const BlockChannel& each) { return each.samples; }, scratch, out);
    append_column(
        block.channels, [](const BlockChannel& each) { return each.first_seq; }, scratch, out);
    append_column(
        block.channels, [](const BlockChannel& each) { return each.last_seq - each.first_seq + 1 - each.samples; },
        scratch, out);
    append_column(
        block.gaps, [](const BlockGap& each) { return each.before_sample; }, scratch, out);
    append_column(
        block.gaps, [](const BlockGap& each) { return to_index(each.gap.channel); }, scratch, out);
    append_column(
        block.gaps, [](const BlockGap& each) { return each.gap.first_seq; }, scratch, out);
    append_column(
        block.gaps, [](const BlockGap& each) { return each.gap.last_seq - each.gap.first_seq; }, scratch, out);
    append_column(
        block.gaps, [](const BlockGap& each) { return static_cast<std::uint64_t>(each.gap.reason); }, scratch, out);
    for (const BlockChunk& chunk : block.chunks) {
        append_varint(out, chunk.raw_bytes);
        append_varint(out, chunk.stored_bytes);
        append_varint(out, chunk.first_channel);
        append_number(out, chunk.checksum);
    }
    if (!block.skips.empty()) {
        append_varint(out, block.skips.size());
        append_column(
            block.skips, [](const BlockSkip& each) { return each.before_sample; }, scratch, out);
        append_column(
            block.skips, [](const BlockSkip& each) { return each.samples; }, scratch, out);
    }
}

bool BlockDecoder::read_head(Bytes bytes, BlockHead& head) {
    ByteReader in(bytes);
    const std::uint32_t samples = in.varint_32();
    const std::uint32_t gaps = in.varint_32();
    const std::uint32_t channels = in.varint_32();
    const std::uint32_t chunks = in.varint_32();
    head.published_before = in.varint();
    if (samples > BlockEncoder::samples_max || gaps > BlockEncoder::gaps_max || channels > samples ||
        chunks > channels + 1 || (samples == 0 ? chunks != 0 : chunks < 2)) {
        return false;
    }
    head.samples = samples;
    head.gaps.assign(gaps, {});
    head.channels.resize(channels);
    head.chunks.assign(chunks, {});
    head.utc_min_ns = in.number<std::int64_t>();
    head.utc_max_ns = in.number<std::int64_t>();
    std::vector<std::uint64_t> numbers;
    read_channels(in, head, numbers);
    read_gaps(in, head, numbers);
    read_chunks(in, head);
    read_skips(in, head, numbers);
    return !in.failed();
}

}  // namespace telegate::store
