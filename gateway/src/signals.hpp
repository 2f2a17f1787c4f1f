#pragma once

#include <optional>

namespace telegate {

/// The signals that steer the daemon, read from a descriptor instead of interrupting it.
///
/// Make it first in main(): it blocks the signals, and threads started later inherit that.
///
/// Threads: the main thread.
/// Limits:  one descriptor.
/// Failure: the constructor throws std::system_error.
class Signals {
  public:
    Signals();
    ~Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

    /// Readable when a signal has come.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    /// The next signal that has come, if any: SIGINT, SIGTERM, SIGHUP, SIGUSR1 or SIGUSR2.
    [[nodiscard]] std::optional<int> take() noexcept;

  private:
    int descriptor_;
};

}  // namespace telegate
