#pragma once

#include "store/file_system.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace telegate::store {

/// A file next to the segments that only takes up space. When the disk is full, it is truncated, and its space is used
/// to write that an epoch has begun, and which samples are missing.
///
/// Threads: one.
/// Limits: bytes.
/// Failure: none; without space there is no reserve.
class ReserveFile {
  public:
    /// Capacity for the names and gaps of a few thousand channels.
    static constexpr std::size_t bytes = 65'536;
    /// Released at a time, so that the rest is left for the next use: two blocks of most file systems.
    static constexpr std::size_t part_bytes = 8'192;

    ReserveFile(FileSystem& files, const std::string& directory) : files_(files), path_(directory + "/reserve") {}

    /// Gives the file its full size, or leaves it as it is if the disk has no space for that.
    void keep();
    /// Frees a part. Returns false if nothing is left.
    bool release_part();
    /// Frees everything.
    void release();

  private:
    static void fill(File& file, std::size_t from);

    FileSystem& files_;
    const std::string path_;
};

}  // namespace telegate::store
