#pragma once

#include <time.h>

#include <thread>

namespace telegate {

/// Waits for another thread to finish a section that is shorter than falling asleep. The first few waits only yield the
/// processor, later waits sleep: a thread with real-time priority does not give way by yielding, so an ordinary thread
/// on the same processor would never finish its section.
///
/// Threads: one, with its own ShortWait for each wait.
/// Limits: sleeps for at least sleep_ns at a time.
/// Failure: none.
class ShortWait {
  public:
    void once() noexcept {
        if (offers_ < offers_max) {
            ++offers_;
            std::this_thread::yield();
        } else {
            const timespec time{0, sleep_ns};
            ::nanosleep(&time, nullptr);
        }
    }

  private:
    static constexpr unsigned offers_max = 64;
    static constexpr long sleep_ns = 20'000;  // several sections of another thread

    unsigned offers_ = 0;
};

}  // namespace telegate
