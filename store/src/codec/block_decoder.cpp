#include "codec/byte_io.hpp"
#include "codec/integer_column.hpp"
#include "codec/value_column.hpp"
#include "store/block.hpp"

#include "core/assert.hpp"
#include "core/bytes.hpp"

#include <zstd.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace telegate::store {
namespace {

struct FreeDecompressor {
    void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};

bool is_ascending(const std::vector<std::uint64_t>& numbers) {
    return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) == numbers.end();
}

/// Reads `count` numbers.
bool read_numbers(ByteReader& in, std::size_t count, std::vector<std::uint64_t>& numbers) {
    numbers.resize(count);
    decode_integers(in, numbers);
    return !in.failed();
}

}  // namespace

/// The order of the samples, as stored in the first chunk.
struct Order {
    std::vector<std::uint32_t> lengths;            // by pattern: its samples
    std::vector<std::uint32_t> members;            // of all patterns: indexes of channels
    std::vector<std::uint32_t> first_members;      // by pattern: where its members begin
    std::vector<std::uint32_t> patterns;           // by reading
    std::vector<std::uint64_t> mono;               // by reading
    std::vector<std::uint64_t> utc_offsets;        // by reading: wall-clock time minus monotonic time
    std::vector<std::vector<std::uint64_t>> seqs;  // by channel; empty if it has no holes

    /// Calls `each(pattern's members, mono, utc)` for every reading.
    template <class Each>
    void for_readings(const Each& each) const {
        for (std::size_t i = 0; i < patterns.size(); ++i) {
            const std::uint32_t pattern = patterns[i];
            each(std::span(members).subspan(first_members[pattern], lengths[pattern]),
                 static_cast<std::int64_t>(mono[i]), static_cast<std::int64_t>(mono[i] + utc_offsets[i]));
        }
    }

    [[nodiscard]] bool read(ByteReader& in, const BlockHead& head);
    /// Reads only what one channel needs: the numbers of other channels are not read, and their samples not counted.
    [[nodiscard]] bool read_channel(ByteReader& in, const BlockHead& head, std::size_t place);

  private:
    std::vector<std::uint64_t> scratch_;

    /// Reads `count` numbers that are less than `end`.
    [[nodiscard]] bool read_indexes(ByteReader& in, std::size_t count, std::size_t end,
                                    std::vector<std::uint32_t>& numbers);
    [[nodiscard]] bool read_readings(ByteReader& in, const BlockHead& head);
    [[nodiscard]] bool read_seqs(ByteReader& in, const BlockChannel& channel, std::vector<std::uint64_t>& numbers);
    [[nodiscard]] bool is_consistent(const BlockHead& head) const;
    [[nodiscard]] bool read_patterns(ByteReader& in, std::size_t count, const BlockHead& head);
};

bool Order::read_indexes(ByteReader& in, std::size_t count, std::size_t end, std::vector<std::uint32_t>& numbers) {
    if (!read_numbers(in, count, scratch_) ||
        !std::all_of(scratch_.begin(), scratch_.end(), [&](std::uint64_t number) { return number < end; })) {
        return false;
    }
    numbers.resize(count);
    std::transform(scratch_.begin(), scratch_.end(), numbers.begin(),
                   [](std::uint64_t number) { return static_cast<std::uint32_t>(number); });
    return true;
}

bool Order::read_patterns(ByteReader& in, std::size_t count, const BlockHead& head) {
    if (!read_indexes(in, count, std::size_t{head.samples} + 1, lengths)) {
        return false;
    }
    std::uint32_t total = 0;
    first_members.clear();
    for (const std::uint32_t length : lengths) {
        if (length == 0 || length > head.samples - total) {
            return false;
        }
        first_members.push_back(total);
        total += length;
    }
    return read_indexes(in, total, head.channels.size(), members);
}

bool Order::read_readings(ByteReader& in, const BlockHead& head) {
    const std::uint32_t readings = in.varint_32();
    const std::uint32_t pattern_count = in.varint_32();
    return readings > 0 && readings <= head.samples && pattern_count <= readings &&
           read_patterns(in, pattern_count, head) && read_indexes(in, readings, pattern_count, patterns) &&
           read_numbers(in, readings, mono) && read_numbers(in, readings, utc_offsets);
}

bool Order::read_seqs(ByteReader& in, const BlockChannel& channel, std::vector<std::uint64_t>& numbers) {
    return read_numbers(in, channel.samples, numbers) && numbers.front() == channel.first_seq &&
           numbers.back() == channel.last_seq && is_ascending(numbers);
}

bool Order::read(ByteReader& in, const BlockHead& head) {
    if (!read_readings(in, head)) {
        return false;
    }
    seqs.resize(head.channels.size());
    for (std::size_t i = 0; i < head.channels.size(); ++i) {
        seqs[i].clear();
        if (head.channels[i].has_holes() && !read_seqs(in, head.channels[i], seqs[i])) {
            return false;
        }
    }
    return is_consistent(head);
}

bool Order::read_channel(ByteReader& in, const BlockHead& head, std::size_t place) {
    if (!read_readings(in, head)) {
        return false;
    }
    const BlockChannel& wanted = head.channels[place];
    for (std::size_t i = 0; i < place && wanted.has_holes(); ++i) {
        if (head.channels[i].has_holes()) {
            skip_integers(in, head.channels[i].samples);
        }
    }
    seqs.resize(std::max(seqs.size(), place + 1));
    return !wanted.has_holes() || read_seqs(in, wanted, seqs[place]);
}

/// Returns whether the readings have as many samples of each channel as the header says.
bool Order::is_consistent(const BlockHead& head) const {
    std::vector<std::uint32_t> counts(head.channels.size());
    std::uint64_t samples = 0;
    for (const std::uint32_t pattern : patterns) {
        if (lengths[pattern] > head.samples - samples) {
            return false;
        }
        samples += lengths[pattern];
        for (std::size_t i = 0; i < lengths[pattern]; ++i) {
            ++counts[members[first_members[pattern] + i]];
        }
    }
    return samples == head.samples &&
           std::equal(counts.begin(), counts.end(), head.channels.begin(), head.channels.end(),
                      [](std::uint32_t count, const BlockChannel& channel) { return count == channel.samples; });
}

struct BlockDecoder::Scratch {
    Order order;
    ColumnScratch column;
    std::vector<std::uint32_t> in_pattern;  // by pattern: samples of one channel in a reading
    std::vector<std::uint32_t> first_of_channel;
    std::vector<std::uint32_t> by_channel;
    ByteBuffer chunk;
    std::unique_ptr<ZSTD_DCtx, FreeDecompressor> decompressor{ZSTD_createDCtx()};
};

BlockDecoder::BlockDecoder() : scratch_(std::make_unique<Scratch>()) {
    if (scratch_->decompressor == nullptr) {
        out_of_memory();
    }
}

BlockDecoder::~BlockDecoder() = default;

bool BlockDecoder::open_chunk(const BlockHead& head, Bytes payload, std::size_t chunk) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < chunk; ++i) {
        at += head.chunks[i].stored_bytes;
    }
    const BlockChunk& described = head.chunks[chunk];
    if (at > payload.size() || described.stored_bytes > payload.size() - at) {
        return false;
    }
    const Bytes stored = payload.subspan(at, described.stored_bytes);
    if (crc32c(stored) != described.checksum) {
        return false;
    }
    scratch_->chunk.resize(described.raw_bytes);
    const std::size_t bytes = ZSTD_decompressDCtx(scratch_->decompressor.get(), scratch_->chunk.data(),
                                                  scratch_->chunk.size(), stored.data(), stored.size());
    return ZSTD_isError(bytes) == 0 && bytes == described.raw_bytes;
}

bool BlockDecoder::read_order(const BlockHead& head, Bytes payload) {
    if (!open_chunk(head, payload, 0)) {
        return false;
    }
    ByteReader in(scratch_->chunk);
    return scratch_->order.read(in, head) && in.left() == 0;
}

/// Appends the samples of a channel without their values. Appends nothing if that is impossible.
bool BlockDecoder::append_channel(const BlockHead& head, Bytes payload, std::size_t place,
                                  std::vector<TelemetrySample>& out) {
    Order& order = scratch_->order;
    const BlockChannel& channel = head.channels[place];
    if (!open_chunk(head, payload, 0)) {
        return false;
    }
    ByteReader in(scratch_->chunk);
    if (!order.read_channel(in, head, place)) {
        return false;
    }
    std::vector<std::uint32_t>& in_pattern = scratch_->in_pattern;
    in_pattern.clear();
    for (std::size_t i = 0; i < order.lengths.size(); ++i) {
        const auto members = std::span(order.members).subspan(order.first_members[i], order.lengths[i]);
        in_pattern.push_back(static_cast<std::uint32_t>(std::count(members.begin(), members.end(), place)));
    }
    std::uint64_t count = 0;
    for (const std::uint32_t pattern : order.patterns) {
        count += in_pattern[pattern];
    }
    if (count != channel.samples) {
        return false;
    }
    std::uint32_t nth = 0;
    for (std::size_t i = 0; i < order.patterns.size(); ++i) {
        for (std::uint32_t n = in_pattern[order.patterns[i]]; n > 0; --n) {
            TelemetrySample& sample = out.emplace_back();
            sample.time_utc_ns = static_cast<std::int64_t>(order.mono[i] + order.utc_offsets[i]);
            sample.time_mono_ns = static_cast<std::int64_t>(order.mono[i]);
            sample.channel = channel.channel;
            sample.seq = channel.has_holes() ? order.seqs[place][nth] : channel.first_seq + nth;
            ++nth;
        }
    }
    return true;
}

/// Sets everything but the values of the samples, and records where those of each channel are.
void BlockDecoder::place_samples(const BlockHead& head, std::span<TelemetrySample> samples) {
    Scratch& scratch = *scratch_;
    scratch.first_of_channel.resize(head.channels.size());
    std::uint32_t first = 0;
    for (std::size_t i = 0; i < head.channels.size(); ++i) {
        scratch.first_of_channel[i] = first;
        first += head.channels[i].samples;
    }
    scratch.by_channel.resize(head.samples);
    std::vector<std::uint32_t> taken(head.channels.size());
    std::uint32_t index = 0;
    scratch.order.for_readings([&](std::span<const std::uint32_t> members, std::int64_t mono, std::int64_t utc) {
        for (const std::uint32_t member : members) {
            const BlockChannel& channel = head.channels[member];
            const std::uint32_t nth = taken[member]++;
            TelemetrySample& sample = samples[index];
            sample.time_utc_ns = utc;
            sample.time_mono_ns = mono;
            sample.channel = channel.channel;
            sample.seq = channel.has_holes() ? scratch.order.seqs[member][nth] : channel.first_seq + nth;
            scratch.by_channel[scratch.first_of_channel[member] + nth] = index++;
        }
    });
}

/// Sets the values of the channels of a chunk.
bool BlockDecoder::decode_chunk(const BlockHead& head, Bytes payload, std::size_t chunk,
                                std::span<TelemetrySample> samples) {
    if (!open_chunk(head, payload, chunk)) {
        return false;
    }
    ByteReader in(scratch_->chunk);
    for (std::size_t i = head.chunks[chunk].first_channel; i < head.channels_end(chunk); ++i) {
        const auto indexes = std::span<const std::uint32_t>(scratch_->by_channel)
                                 .subspan(scratch_->first_of_channel[i], head.channels[i].samples);
        decode_values(in, {samples, indexes}, scratch_->column);
    }
    return !in.failed() && in.left() == 0;
}

bool BlockDecoder::decode_intact(const BlockHead& head, Bytes payload, std::vector<TelemetrySample>& out,
                                 std::vector<ChannelId>& lost) {
    if (head.samples == 0) {
        return true;
    }
    if (!read_order(head, payload)) {
        return false;
    }
    const std::size_t before = out.size();
    out.resize(before + head.samples);
    const std::span<TelemetrySample> samples = std::span(out).subspan(before);
    place_samples(head, samples);
    for (std::size_t chunk = 1; chunk < head.chunks.size(); ++chunk) {
        if (!decode_chunk(head, payload, chunk, samples)) {
            for (std::size_t i = head.chunks[chunk].first_channel; i < head.channels_end(chunk); ++i) {
                lost.push_back(head.channels[i].channel);
            }
        }
    }
    return true;
}

bool BlockDecoder::decode(const BlockHead& head, Bytes payload, std::vector<TelemetrySample>& out) {
    const std::size_t before = out.size();
    std::vector<ChannelId> lost;
    const bool is_decoded = decode_intact(head, payload, out, lost) && lost.empty();
    out.resize(is_decoded ? out.size() : before);
    return is_decoded;
}

bool BlockDecoder::decode_channel(const BlockHead& head, Bytes payload, ChannelId channel,
                                  std::vector<TelemetrySample>& out) {
    const BlockChannel* const part = head.find(channel);
    const std::size_t before = out.size();
    if (part == nullptr) {
        return false;
    }
    const auto place = static_cast<std::size_t>(part - head.channels.data());
    const std::size_t chunk = head.chunk_of(*part);
    if (chunk == 0 || !append_channel(head, payload, place, out)) {
        return false;
    }
    bool is_read = open_chunk(head, payload, chunk);
    if (is_read) {
        ByteReader in(scratch_->chunk);
        for (std::size_t i = head.chunks[chunk].first_channel; i < place; ++i) {
            skip_values(in, head.channels[i].samples, scratch_->column);
        }
        std::vector<std::uint32_t>& indexes = scratch_->by_channel;
        indexes.resize(part->samples);
        std::iota(indexes.begin(), indexes.end(), 0U);
        decode_values(in, {std::span(out).subspan(before), indexes}, scratch_->column);
        is_read = !in.failed();
    }
    out.resize(is_read ? out.size() : before);
    return is_read;
}

}  // namespace telegate::store
