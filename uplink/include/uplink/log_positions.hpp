#pragma once

#include "store/file_system.hpp"
#include "store/segment_format.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace telegate::uplink {

// Positions in the log of a directory. Threads: any. Failure: std::system_error.

/// Returns the log's id; nullopt if it has no segment yet.
[[nodiscard]] std::optional<store::LogId> log_id_of(store::FileSystem& files, const std::string& directory);
/// Returns the beginning of the block with a position, or the position if no block has it.
[[nodiscard]] store::Position block_begin(store::FileSystem& files, const std::string& directory,
                                          store::Position position);
/// Returns the end of the last block that ends at `synced` or before it. 0: there is none.
[[nodiscard]] store::Position last_block_end(store::FileSystem& files, const std::string& directory,
                                             store::Position synced);
/// Returns the time of the first sample at a position or after it.
[[nodiscard]] std::optional<std::int64_t> first_utc_ns(store::FileSystem& files, const std::string& directory,
                                                       store::Position position);

}  // namespace telegate::uplink
