#pragma once

#include "codec/byte_io.hpp"
#include "store/block.hpp"

#include <cstdint>
#include <vector>

namespace telegate::store {

/// Appends the header of a block as BlockDecoder::read_head() reads it. `scratch` is memory that is overwritten.
/// Threads: any. Failure: throws std::bad_alloc.
void append_block_head(const BlockHead& block, std::vector<std::uint64_t>& scratch, ByteBuffer& out);

}  // namespace telegate::store
