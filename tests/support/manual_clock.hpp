#pragma once

#include "core/clock.hpp"

#include <atomic>

namespace telegate::test {

/// A clock that stands still until it is moved. Threads: any.
class ManualClock final : public Clock {
  public:
    [[nodiscard]] MonoTime mono_now() const noexcept override {
        return MonoTime(std::chrono::nanoseconds(mono_ns_.load()));
    }
    [[nodiscard]] std::int64_t utc_now_ns() const noexcept override { return utc_ns_.load(); }

    void advance(std::chrono::nanoseconds by) {
        mono_ns_ += by.count();
        utc_ns_ += by.count();
    }
    /// Moves only the wall clock.
    void step_utc(std::chrono::nanoseconds by) { utc_ns_ += by.count(); }

  private:
    std::atomic<std::int64_t> mono_ns_{1'000'000'000};
    std::atomic<std::int64_t> utc_ns_{1'700'000'000'000'000'000};
};

}  // namespace telegate::test
