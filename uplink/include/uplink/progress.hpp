#pragma once

#include "core/clock.hpp"
#include "store/segment_format.hpp"

#include <chrono>
#include <optional>

namespace telegate::uplink {

/// Measures how fast the log grows and how fast it is delivered, in positions per second: the averages of about
/// `average` before.
///
/// Threads: one. Limits: none. Failure: none.
class Progress {
  public:
    static constexpr std::chrono::seconds interval{1};
    static constexpr std::chrono::seconds average{10};

    void note(MonoTime now, store::Position synced, store::Position settled) noexcept;

    [[nodiscard]] double live_rate() const noexcept { return live_rate_; }
    /// Returns how long it takes to deliver what is synced, if nothing changes; nullopt: for ever.
    [[nodiscard]] std::optional<std::chrono::seconds> catch_up_time() const noexcept;

  private:
    MonoTime noted_at_{};  // the start: nothing was noted
    store::Position synced_ = 0;
    store::Position settled_ = 0;
    double live_rate_ = 0;
    double delivery_rate_ = 0;
};

}  // namespace telegate::uplink
