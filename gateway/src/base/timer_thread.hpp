#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace telegate {

/// Calls a function at a given time on a dedicated thread, for work that may wait for other threads or for a disk.
///
/// Threads: any; the dedicated thread sleeps until the function is due.
/// Limits: one thread, created by start(); one due time, the earliest requested.
/// Failure: start() throws std::system_error. A function that throws std::bad_alloc is called again after memory_pause;
/// it must not throw anything else.
class TimerThread {
  public:
    static constexpr std::chrono::seconds memory_pause{10};

    /// `call` returns the time of the next call; MonoTime::max(): never.
    TimerThread(std::string name, std::function<MonoTime()> call);
    ~TimerThread() { stop(); }
    TimerThread(const TimerThread&) = delete;
    TimerThread& operator=(const TimerThread&) = delete;

    /// Starts the thread. Idempotent; does nothing after stop().
    void start();
    void call_at(MonoTime at);
    /// Waits until a running call returns; no calls follow. Idempotent.
    void stop();

  private:
    [[nodiscard]] MonoTime call_or_wait(const SystemClock& clock) const;
    void run();

    const std::string name_;
    const std::function<MonoTime()> call_;
    std::mutex mutex_;  // guards the members below
    std::condition_variable changed_;
    MonoTime due_ = MonoTime::max();
    bool is_stopping_ = false;
    std::thread thread_;
};

}  // namespace telegate
