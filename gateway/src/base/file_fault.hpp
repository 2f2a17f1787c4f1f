#pragma once

#include <sys/types.h>

#include <string>

namespace telegate {

/// Returns an error text if `mode` gives other users access to a file with a secret; "" if it does not.
[[nodiscard]] std::string openness_fault(const std::string& path, mode_t mode);

enum class FileHolds { anything, secret };
/// Returns why this process cannot or should not use the file; "" if it can.
[[nodiscard]] std::string file_fault(const std::string& path, FileHolds what);

}  // namespace telegate
