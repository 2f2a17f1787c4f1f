#pragma once

#include <signal.h>

namespace telegate::perf {

/// While it lives, SIGINT and SIGTERM end the measurement in order, in let_pass(): no folder and no process is left.
/// Threads: one, and those that it starts meanwhile. Limits: none. Failure: none.
class EndInOrder {
  public:
    EndInOrder();
    ~EndInOrder();
    EndInOrder(const EndInOrder&) = delete;
    EndInOrder& operator=(const EndInOrder&) = delete;

  private:
    sigset_t before_{};
};

/// Waits for so long while an EndInOrder lives.
/// Threads: the one that made it. Limits: none. Failure: throws std::runtime_error at SIGINT and SIGTERM.
void let_pass(double seconds);

}  // namespace telegate::perf
