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
    [[nodiscard]] bool utc_is_unsynchronized(std::int64_t /*mono_ns*/) const noexcept override {
        return is_unsynchronized_;
    }

    void advance(std::chrono::nanoseconds by) {
        mono_ns_ += by.count();
        utc_ns_ += by.count();
    }
    /// Moves only the wall clock.
    void step_utc(std::chrono::nanoseconds by) { utc_ns_ += by.count(); }
    void set_synchronized(bool is_synchronized) { is_unsynchronized_ = !is_synchronized; }

  private:
    std::atomic<std::int64_t> mono_ns_{1'000'000'000};
    std::atomic<std::int64_t> utc_ns_{1'700'000'000'000'000'000};
    std::atomic<bool> is_unsynchronized_{false};
};

}  // namespace telegate::test
