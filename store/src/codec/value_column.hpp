#pragma once

#include "codec/byte_io.hpp"

#include "core/telemetry_sample.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace telegate::store {

/// Memory that encoding and decoding of columns reuse.
struct ColumnScratch {
    std::vector<std::uint64_t> numbers;
    std::vector<std::uint64_t> scaled;
};

/// The samples of one channel among those of a block.
template <class Sample>
struct ChannelSamples {
    std::span<Sample> samples;  // of all channels
    std::span<const std::uint32_t> indexes;

    [[nodiscard]] std::size_t size() const noexcept { return indexes.size(); }
    [[nodiscard]] Sample& at(std::size_t nth) const noexcept { return samples[indexes[nth]]; }
};

/// Appends values, types, qualities and flags of the samples of one channel. Real values become decimal integers if
/// that is exact for all of them. Threads: any. Failure: throws std::bad_alloc.
void encode_values(const ChannelSamples<const TelemetrySample>& channel, ColumnScratch& scratch, ByteBuffer& out);

/// Sets value, type, quality, flags and text_bytes of samples whose bytes are all zero there. Leaves `in.failed()` true
/// if the input is not such a column. Threads: any. Failure: throws std::bad_alloc.
void decode_values(ByteReader& in, const ChannelSamples<TelemetrySample>& channel, ColumnScratch& scratch);

/// Passes over the column of a channel with `samples` samples. Threads: any. Failure: throws std::bad_alloc.
void skip_values(ByteReader& in, std::size_t samples, ColumnScratch& scratch);

}  // namespace telegate::store
