#pragma once

#include <time.h>

#include <thread>

namespace telegate {

/// Waiting for another thread to end a turn that is shorter than falling asleep. A few times it only offers the
/// processor; then it sleeps, since a thread of real-time priority gives nothing away by offering, and the other one,
/// an ordinary thread of the same processor, would never end its turn.
///
/// Threads: one, with a ShortWait of its own for each wait.
/// Limits:  sleeps for at least sleep_ns at a time.
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
    static constexpr long sleep_ns = 20'000;  // several turns of another thread

    unsigned offers_ = 0;
};

}  // namespace telegate
