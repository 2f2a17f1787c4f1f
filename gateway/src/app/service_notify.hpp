#pragma once

#include "core/clock.hpp"
#include "log/log.hpp"

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

namespace telegate {

/// Tells the service manager how the daemon is doing: the protocol of sd_notify(3), one datagram a message. Where no
/// manager asked for it, every call does nothing.
///
/// Threads: constructor the main thread, before others start, since it changes the environment; the rest any.
/// Limits:  one descriptor; a call waits at most send_time_max when the manager does not read.
/// Failure: a message that cannot be sent is logged.
class ServiceNotify {
  public:
    static constexpr std::chrono::milliseconds send_time_max{500};

    /// Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment: they are for this process alone.
    explicit ServiceNotify(Log& log);
    ~ServiceNotify();
    ServiceNotify(const ServiceNotify&) = delete;
    ServiceNotify& operator=(const ServiceNotify&) = delete;

    /// The daemon does its work now, and `status` says so to a person. Also ends a reload.
    void ready(std::string_view status);
    /// New settings are being taken over; ready() follows, whatever becomes of them.
    void reloading();
    void stopping();
    /// One line for a person. The same line again is not sent.
    void status(std::string_view text);
    /// A sign of life, due at least once in watchdog_time().
    void watchdog();

    /// Zero when nobody watches.
    [[nodiscard]] Duration watchdog_time() const noexcept { return watchdog_time_; }

  private:
    void send(const std::string& message);
    [[nodiscard]] bool is_news(std::string_view status);

    Log& log_;
    int socket_ = -1;
    std::string address_;  // a path; one that begins with a zero byte is abstract
    Duration watchdog_time_{0};
    std::mutex mutex_;  // guards last_status_
    std::string last_status_;
};

}  // namespace telegate
