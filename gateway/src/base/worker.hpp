#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace telegate {

/// Calls a function on a dedicated thread, on request or at a given time, for work that may wait for other threads or
/// for a disk. Requests that arrive together are one call, so the owner has a mailbox for their data if they have any.
///
/// Threads: any; the dedicated thread sleeps until the function is due.
/// Limits: one thread, created by start(); one due time, the earliest requested.
/// Failure: start() throws std::system_error. The function must not throw.
class Worker {
  public:
    enum class Priority : std::uint8_t { normal, low };  // see lower_priority()

    /// `call` returns the time of the next call; MonoTime::max(): never.
    Worker(std::string name, std::function<MonoTime()> call, Priority priority = Priority::normal);
    ~Worker() { stop(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Starts the thread. Idempotent; does nothing after stop().
    void start();
    void call_at(MonoTime at);
    void call_soon() { call_at(MonoTime::min()); }
    /// Waits until a running call returns; no calls follow. Idempotent.
    void stop();

  private:
    void run();

    const std::string name_;
    const std::function<MonoTime()> call_;
    const Priority priority_;
    std::mutex mutex_;  // guards the members below
    std::condition_variable changed_;
    MonoTime due_ = MonoTime::max();
    bool is_stopping_ = false;
    std::thread thread_;
};

}  // namespace telegate
