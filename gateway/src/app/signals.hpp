#pragma once

#include <vector>

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
    /// Those that have come, each once however often it came, the most urgent first: SIGTERM and SIGINT, then SIGUSR1,
    /// SIGUSR2 and SIGHUP.
    [[nodiscard]] std::vector<int> take();

  private:
    int descriptor_;
};

}  // namespace telegate
