#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace telegate {

/// Calls a function at a time, for work that may wait for other threads or for a disk.
///
/// Threads: any; the function runs on a thread of its own, which sleeps until it is due.
/// Limits:  one thread, made by start(); one time, the earliest that was asked for.
/// Failure: start() throws std::system_error. A function that throws std::bad_alloc is called again after memory_pause;
///          it must not throw anything else.
class TimerThread {
  public:
    static constexpr std::chrono::seconds memory_pause{10};

    /// `call` returns when it is to be called again; MonoTime::max() for never.
    TimerThread(std::string name, std::function<MonoTime()> call);
    ~TimerThread() { stop(); }
    TimerThread(const TimerThread&) = delete;
    TimerThread& operator=(const TimerThread&) = delete;

    /// Makes the thread. Idempotent; does nothing after stop().
    void start();
    void call_at(MonoTime at);
    /// Waits for the end of a call that has begun; afterwards there is none. Idempotent.
    void stop();

  private:
    [[nodiscard]] MonoTime call_or_wait(const SystemClock& clock) const;
    void run();

    const std::string name_;
    const std::function<MonoTime()> call_;
    std::mutex mutex_;  // guards the rest
    std::condition_variable changed_;
    MonoTime due_ = MonoTime::max();
    bool is_stopping_ = false;
    std::thread thread_;
};

}  // namespace telegate
