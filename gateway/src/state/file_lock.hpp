#pragma once

#include "core/unique_fd.hpp"

#include <string>

namespace telegate {

/// Keeps other processes that ask for it from using a file, which may be replaced meanwhile: what is locked is an empty
/// file beside it, `PATH.lock`, which stays when the lock is given up.
///
/// Threads: one. Limits: one descriptor.
/// Failure: the constructor throws std::system_error: device_or_resource_busy when somebody has it.
class FileLock {
  public:
    FileLock() = default;  // holds none
    explicit FileLock(const std::string& path);

  private:
    UniqueFd file_;
};

}  // namespace telegate
