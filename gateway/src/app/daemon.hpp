#pragma once

#include "app/gateway.hpp"
#include "app/service_notify.hpp"
#include "core/clock.hpp"
#include "core/unique_fd.hpp"
#include "log/log.hpp"

#include <future>
#include <optional>
#include <string>
#include <thread>
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
    [[nodiscard]] std::vector<int> read();

  private:
    UniqueFd descriptor_;
};

/// Runs the started gateway as a service until it has stopped: handles signals, notifies the service manager, and sends
/// watchdog pings while the gateway is alive. docs/service.md describes the signals.
///
/// Threads: the main thread; one that begins the stop, and one that waits for its end after a second signal.
/// Limits: without a watchdog, it sleeps until a signal arrives.
/// Failure: if a thread of the gateway does not stop, the second signal ends the process with exit code 70.
class Daemon {
  public:
    Daemon(Gateway& gateway, Signals& signals, ServiceNotify& notify, Log& log)
        : gateway_(gateway), signals_(signals), notify_(notify), log_(log) {}

    /// Runs until the started gateway has shut down cleanly, or until the second SIGINT or SIGTERM.
    void run();

  private:
    void answer(int signal);
    void request_stop();
    void leave_without_stuck();
    void log_state();
    /// Sends a watchdog ping if one is due and the gateway is alive. Returns the time until the next check in ms; -1:
    /// never.
    [[nodiscard]] int supervise();
    [[nodiscard]] std::string running_text() const;
    [[nodiscard]] std::optional<ReloadStatus> last_reload() const;

    Gateway& gateway_;
    Signals& signals_;
    ServiceNotify& notify_;
    Log& log_;
    const SystemClock clock_;
    MonoTime check_at_{};
    std::jthread leaving_;    // ends last, or ends the process
    std::future<void> stop_;  // the running begin_stop()
    bool is_stopping_ = false;
    bool is_cut_ = false;
};

}  // namespace telegate
