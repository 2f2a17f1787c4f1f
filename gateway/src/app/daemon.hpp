#pragma once

#include "app/gateway.hpp"
#include "app/service_notify.hpp"
#include "app/signals.hpp"
#include "core/clock.hpp"
#include "log/log.hpp"

#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>

namespace telegate {

/// The gateway as a service, from when it runs until it has stopped: answers signals, tells the service manager, and
/// gives it signs of life while the gateway is alive. What the signals do is in docs/service.md.
///
/// Threads: the main thread; one that begins the stop, and one that waits for its end after a second signal.
/// Limits:  without a watchdog it sleeps until a signal comes.
/// Failure: where a thread of the gateway does not end, the second signal ends the process with exit code 70.
class Daemon {
  public:
    /// `reload` takes new settings over, and logs what became of it.
    Daemon(Gateway& gateway, Signals& signals, Log& log, std::function<void()> reload);

    /// `gateway` has been started. Returns when it has stopped in order, or at the second SIGINT or SIGTERM.
    void run(ServiceNotify& notify);

  private:
    void answer(int signal, ServiceNotify& notify);
    void ask_to_stop(ServiceNotify& notify);
    void leave_without_stuck();
    void log_state();
    /// Gives a sign of life when one is due and deserved; returns when to look again, in ms, -1 for never.
    [[nodiscard]] int look_after(ServiceNotify& notify);
    [[nodiscard]] std::string running_text() const;
    [[nodiscard]] std::optional<ReloadStatus> last_reload() const;

    Gateway& gateway_;
    Signals& signals_;
    Log& log_;
    const std::function<void()> reload_;
    const SystemClock clock_;
    MonoTime look_at_{};
    std::jthread leaving_;    // ends after all else, or ends the process
    std::future<void> stop_;  // of the gateway
    bool is_stopping_ = false;
    bool is_cut_ = false;
};

}  // namespace telegate
