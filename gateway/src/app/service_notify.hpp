#pragma once

#include "core/clock.hpp"
#include "core/unique_fd.hpp"
#include "log/log.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace telegate {

/// Notifies the service manager of the daemon's state with the protocol of sd_notify(3), one datagram per message.
/// Without a service manager, every call does nothing.
///
/// Threads: the main thread; the constructor before other threads start, because it changes the environment.
/// Limits: one descriptor; a call waits at most send_time_max if the manager does not read.
/// Failure: a message that cannot be sent is logged.
class ServiceNotify {
  public:
    static constexpr std::chrono::milliseconds send_time_max{500};

    /// Removes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment, so that children do not inherit
    /// them.
    explicit ServiceNotify(Log& log);

    /// Reports that the daemon is running, with a human-readable `status`. Also ends a reload.
    void ready(std::string_view status);
    /// Reports the start of a reload; ready() must follow, whatever its outcome.
    void reloading();
    void stopping();
    /// Sends one human-readable line. The same line is not sent twice in a row.
    void status(std::string_view text);
    /// Sends a watchdog ping, which is due at least once per watchdog_time().
    void watchdog();

    /// Zero without a watchdog.
    [[nodiscard]] Duration watchdog_time() const noexcept { return watchdog_time_; }

  private:
    void send(const std::string& message);

    Log& log_;
    UniqueFd socket_;
    std::string address_;  // a path, or an abstract name that begins with a zero byte
    Duration watchdog_time_{0};
    std::string last_status_;
};

/// Returns an environment variable and removes it from the environment, so that children do not inherit it; "" if it is
/// not set. Threads: the main thread, before other threads start.
[[nodiscard]] std::string take_variable(const char* name);

}  // namespace telegate
