#include "codec/block_parts.hpp"
#include "codec/integer_column.hpp"
#include "codec/value_column.hpp"

#include "core/assert.hpp"
#include "core/bytes.hpp"

#include <zstd.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace telegate::store {
namespace {

constexpr int compression_level = 1;
/// A chunk of values is ended when it has this many bytes: small enough that reading one channel decompresses little,
/// large enough to compress well.
constexpr std::size_t chunk_bytes = 5'120;

struct FreeCompressor {
    void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};

}  // namespace

/// Samples of one moment: consecutive ones with the same times.
struct Reading {
    std::uint32_t first;    // index of its first sample
    std::uint32_t samples;  // one or more
    std::uint32_t pattern;  // which channels, in which order
};

struct BlockEncoder::Scratch {
    std::vector<std::uint32_t> place_of_channel;  // by channel id: 1 + index in the block's list; 0: not in the block
    std::vector<std::uint32_t> first_of_channel;  // by index in the list: where its samples begin in by_channel
    std::vector<std::uint32_t> by_channel;        // indexes of samples, grouped by channel
    std::vector<std::uint32_t> places;            // by sample: index of its channel in the list
    std::vector<Reading> readings;
    std::vector<Reading> patterns;  // the first reading of each pattern
    std::unordered_multimap<std::uint64_t, std::uint32_t> pattern_by_hash;
    ColumnScratch column;
    ByteBuffer chunk;
    std::unique_ptr<ZSTD_CCtx, FreeCompressor> compressor{ZSTD_createCCtx()};

    void find_readings(std::span<const TelemetrySample> samples);
    [[nodiscard]] std::uint32_t pattern_of(const Reading& reading);
};

void BlockEncoder::Scratch::find_readings(std::span<const TelemetrySample> samples) {
    readings.clear();
    patterns.clear();
    pattern_by_hash.clear();
    for (std::uint32_t i = 0; i < samples.size();) {
        const TelemetrySample& first = samples[i];
        std::uint32_t end = i + 1;
        while (end < samples.size() && samples[end].time_utc_ns == first.time_utc_ns &&
               samples[end].time_mono_ns == first.time_mono_ns) {
            ++end;
        }
        Reading reading{i, end - i, 0};
        reading.pattern = pattern_of(reading);
        readings.push_back(reading);
        i = end;
    }
}

std::uint32_t BlockEncoder::Scratch::pattern_of(const Reading& reading) {
    const auto members = std::span(places).subspan(reading.first, reading.samples);
    std::uint64_t hash = members.size();
    for (const std::uint32_t member : members) {
        constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;
        hash = (hash ^ member) * odd;
        hash ^= hash >> 32U;
    }
    const auto [begin, end] = pattern_by_hash.equal_range(hash);
    for (auto each = begin; each != end; ++each) {
        const Reading& known = patterns[each->second];
        const auto known_members = std::span(places).subspan(known.first, known.samples);
        if (std::equal(members.begin(), members.end(), known_members.begin(), known_members.end())) {
            return each->second;
        }
    }
    const auto pattern = static_cast<std::uint32_t>(patterns.size());
    patterns.push_back(reading);
    pattern_by_hash.emplace(hash, pattern);
    return pattern;
}

BlockEncoder::BlockEncoder() : scratch_(std::make_unique<Scratch>()) {
    if (scratch_->compressor == nullptr) {
        out_of_memory();
    }
}

BlockEncoder::~BlockEncoder() = default;

void BlockEncoder::add(const LogGap& gap) {
    gaps_.push_back({static_cast<std::uint32_t>(samples_.size()), gap});
}

void BlockEncoder::skip(std::uint64_t samples) {
    const auto before_sample = static_cast<std::uint32_t>(samples_.size());
    if (skips_.empty() || skips_.back().before_sample != before_sample) {
        skips_.push_back({before_sample, 0});
    }
    skips_.back().samples += samples;
    skipped_ += samples;
}

void BlockEncoder::clear() noexcept {
    samples_.clear();
    gaps_.clear();
    skips_.clear();
    skipped_ = 0;
}

/// Lists the channels, and groups the samples by channel.
void BlockEncoder::describe(BlockHead& block) {
    Scratch& scratch = *scratch_;
    block.samples = static_cast<std::uint32_t>(samples_.size());
    block.utc_min_ns = samples_.empty() ? 0 : std::numeric_limits<std::int64_t>::max();
    block.utc_max_ns = samples_.empty() ? 0 : std::numeric_limits<std::int64_t>::min();
    block.channels.clear();
    block.chunks.clear();
    block.gaps = gaps_;
    block.skips = skips_;
    std::fill(scratch.place_of_channel.begin(), scratch.place_of_channel.end(), 0);
    for (const TelemetrySample& sample : samples_) {
        block.utc_min_ns = std::min(block.utc_min_ns, sample.time_utc_ns);
        block.utc_max_ns = std::max(block.utc_max_ns, sample.time_utc_ns);
        const std::size_t id = to_index(sample.channel);
        if (id >= scratch.place_of_channel.size()) {
            scratch.place_of_channel.resize(id + 1);
        }
        if (scratch.place_of_channel[id] == 0) {
            block.channels.push_back({sample.channel, 0, sample.seq, sample.seq});
            scratch.place_of_channel[id] = static_cast<std::uint32_t>(block.channels.size());
        }
        BlockChannel& channel = block.channels[scratch.place_of_channel[id] - 1];
        ++channel.samples;
        channel.last_seq = sample.seq;
    }
    std::sort(block.channels.begin(), block.channels.end(),
              [](const BlockChannel& a, const BlockChannel& b) { return to_index(a.channel) < to_index(b.channel); });

    scratch.first_of_channel.resize(block.channels.size() + 1);
    std::uint32_t first = 0;
    for (std::size_t i = 0; i < block.channels.size(); ++i) {
        scratch.place_of_channel[to_index(block.channels[i].channel)] = static_cast<std::uint32_t>(i + 1);
        scratch.first_of_channel[i] = first;
        first += block.channels[i].samples;
    }
    scratch.first_of_channel.back() = first;
    scratch.places.resize(samples_.size());
    scratch.by_channel.resize(samples_.size());
    std::vector<std::uint32_t> next(scratch.first_of_channel.begin(), scratch.first_of_channel.end());
    for (std::uint32_t i = 0; i < samples_.size(); ++i) {
        const std::uint32_t place = scratch.place_of_channel[to_index(samples_[i].channel)] - 1;
        scratch.places[i] = place;
        scratch.by_channel[next[place]++] = i;
    }
}

void BlockEncoder::encode_order(const BlockHead& block) {
    Scratch& scratch = *scratch_;
    scratch.find_readings(samples_);
    ByteBuffer& out = scratch.chunk;
    std::vector<std::uint64_t>& numbers = scratch.column.numbers;
    append_varint(out, scratch.readings.size());
    append_varint(out, scratch.patterns.size());
    append_column(
        scratch.patterns, [](const Reading& reading) { return reading.samples; }, numbers, out);
    numbers.clear();
    for (const Reading& pattern : scratch.patterns) {
        for (std::uint32_t i = 0; i < pattern.samples; ++i) {
            numbers.push_back(scratch.places[pattern.first + i]);
        }
    }
    encode_integers(numbers, out);
    append_column(
        scratch.readings, [](const Reading& reading) { return reading.pattern; }, numbers, out);
    append_column(
        scratch.readings, [this](const Reading& reading) { return samples_[reading.first].time_mono_ns; }, numbers,
        out);
    append_column(
        scratch.readings,
        [this](const Reading& reading) {
            const TelemetrySample& sample = samples_[reading.first];
            return static_cast<std::uint64_t>(sample.time_utc_ns) - static_cast<std::uint64_t>(sample.time_mono_ns);
        },
        numbers, out);
    for (std::size_t i = 0; i < block.channels.size(); ++i) {
        if (block.channels[i].has_holes()) {
            const auto indexes =
                std::span(scratch.by_channel).subspan(scratch.first_of_channel[i], block.channels[i].samples);
            append_column(
                indexes, [this](std::uint32_t index) { return samples_[index].seq; }, numbers, out);
        }
    }
}

void BlockEncoder::end_chunk(BlockHead& block, std::size_t first_channel, ByteBuffer& payload) {
    ByteBuffer& chunk = scratch_->chunk;
    const std::size_t at = payload.size();
    payload.resize(at + ZSTD_compressBound(chunk.size()));
    const std::size_t stored = ZSTD_compressCCtx(scratch_->compressor.get(), payload.data() + at, payload.size() - at,
                                                 chunk.data(), chunk.size(), compression_level);
    if (ZSTD_isError(stored) != 0) {
        out_of_memory();  // there is no other reason: the output is large enough
    }
    payload.resize(at + stored);
    block.chunks.push_back({static_cast<std::uint32_t>(chunk.size()), static_cast<std::uint32_t>(stored),
                            crc32c(std::span(payload).subspan(at)), static_cast<std::uint32_t>(first_channel)});
    chunk.clear();
}

void BlockEncoder::encode(std::uint64_t published_before, BlockHead& described, ByteBuffer& head, ByteBuffer& payload) {
    describe(described);
    described.published_before = published_before;
    scratch_->chunk.clear();
    if (!samples_.empty()) {
        encode_order(described);
        end_chunk(described, 0, payload);
        std::size_t first = 0;
        for (std::size_t i = 0; i < described.channels.size(); ++i) {
            const auto indexes = std::span<const std::uint32_t>(scratch_->by_channel)
                                     .subspan(scratch_->first_of_channel[i], described.channels[i].samples);
            encode_values({samples_, indexes}, scratch_->column, scratch_->chunk);
            if (scratch_->chunk.size() >= chunk_bytes || i + 1 == described.channels.size()) {
                end_chunk(described, first, payload);
                first = i + 1;
            }
        }
    }
    append_block_head(described, scratch_->column.numbers, head);
}

}  // namespace telegate::store
