#pragma once

#include "core/unique_fd.hpp"

#include <string>

namespace telegate {

/// A lock that keeps other processes that use it from opening a file. The lock is held on the empty file `PATH.lock`,
/// because the file itself may be replaced. `PATH.lock` remains when the lock is released.
///
/// Threads: one.
/// Limits: one descriptor.
/// Failure: the constructor throws std::system_error; device_or_resource_busy if another process holds the lock.
class FileLock {
  public:
    FileLock() = default;  // holds no lock
    explicit FileLock(const std::string& path);

  private:
    UniqueFd file_;
};

}  // namespace telegate
