#pragma once

#include <sys/types.h>

#include <string>

namespace telegate {

/// What is wrong with a file that holds a secret and has this mode: others may use it. "" when nothing is.
[[nodiscard]] std::string openness_fault(const std::string& path, mode_t mode);

enum class FileHolds { anything, secret };
/// Why this process cannot use the file, or should not; "" when it can.
[[nodiscard]] std::string file_fault(const std::string& path, FileHolds what);

}  // namespace telegate
