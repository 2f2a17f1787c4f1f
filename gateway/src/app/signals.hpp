#pragma once

#include "core/unique_fd.hpp"

#include <vector>

namespace telegate {

/// The signals that control the daemon, read from a descriptor.
///
/// Create it first in main(): it blocks the signals, and threads inherit the signal mask.
///
/// Threads: the main thread.
/// Limits: one descriptor.
/// Failure: the constructor throws std::system_error.
class Signals {
  public:
    Signals();

    /// Readable when a signal is pending.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
    /// Returns the pending signals, each once, the most urgent first: SIGTERM and SIGINT, then SIGUSR1, SIGUSR2 and
    /// SIGHUP.
    [[nodiscard]] std::vector<int> take();

  private:
    UniqueFd descriptor_;
};

}  // namespace telegate
