#pragma once

#include "codec/byte_io.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace telegate::store {

/// Appends `values` in the shortest of four forms: as they are, as differences, as differences of differences, or (if
/// `bits` is true: the values are floating-point bit patterns) as XOR with the value before.
///
/// The form and the width in bytes come first, then the bytes of all residuals, split into planes: all lowest bytes,
/// then all second bytes, and so on. A compressor finds the zeros of the upper planes. Nothing is appended if
/// there are no values. Threads: any. Failure: throws std::bad_alloc.
void encode_integers(std::span<const std::uint64_t> values, ByteBuffer& out);
void encode_bit_patterns(std::span<const std::uint64_t> values, ByteBuffer& out);

/// Fills `values` with what encode_integers() or encode_bit_patterns() appended for the same number of values. Leaves
/// `in.failed()` true if the input is not such a column. Threads: any.
void decode_integers(ByteReader& in, std::span<std::uint64_t> values) noexcept;

/// Passes over such a column. Threads: any.
void skip_integers(ByteReader& in, std::size_t count) noexcept;

/// Appends one column of a list of records: `get(record)` for each record. `scratch` is memory that is overwritten.
template <class Records, class Get>
void append_column(const Records& records, const Get& get, std::vector<std::uint64_t>& scratch, ByteBuffer& out) {
    scratch.clear();
    for (const auto& record : records) {
        scratch.push_back(static_cast<std::uint64_t>(get(record)));
    }
    encode_integers(scratch, out);
}

/// Reads what append_column() has appended, and calls `set(record, number)` for each record.
template <class Records, class Set>
void read_column(ByteReader& in, Records& records, const Set& set, std::vector<std::uint64_t>& scratch) {
    scratch.assign(records.size(), 0);
    decode_integers(in, scratch);
    for (std::size_t i = 0; i < records.size() && !in.failed(); ++i) {
        set(records[i], scratch[i]);
    }
}

}  // namespace telegate::store
