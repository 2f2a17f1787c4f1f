#pragma once

#include "store/file_system.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace telegate::store {

/// A file next to the segments that only takes up space. When the disk is full, it is removed, and its space is used to
/// write which samples are missing.
///
/// Threads: one.
/// Limits: bytes.
/// Failure: none; without space there is no reserve.
class ReserveFile {
  public:
    /// Capacity for the names and gaps of a few thousand channels.
    static constexpr std::size_t bytes = 65'536;

    ReserveFile(FileSystem& files, const std::string& directory) : files_(files), path_(directory + "/reserve") {}

    /// Creates the file unless it exists with its full size.
    void keep();
    /// Removes the file. Returns false if there was none.
    bool release();

  private:
    FileSystem& files_;
    const std::string path_;
};

}  // namespace telegate::store
