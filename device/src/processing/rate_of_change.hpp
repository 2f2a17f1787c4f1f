#pragma once

#include "device/processing.hpp"
#include "processing/reading.hpp"

namespace telegate::processing {

/// Replaces each value with its change per second since the previous value.
///
/// The first value, a time that does not advance, and a restarted counter have no rate: the reading has no value and
/// quality bad. A falling counter has overflowed at 32 bits if it was below 2^32 and the step across 2^32 is less than
/// half of that range; otherwise it has restarted.
///
/// Threads: one. Limits: no allocation. Failure: none.
class RateOfChange {
  public:
    explicit RateOfChange(const ChannelProcessing& processing) noexcept
        : is_counter_(processing.derive == Derive::counter_rate), scale_(processing.scale) {}

    /// Continues from the last reading of another instance, whose values must have the same scale.
    void continue_from(const RateOfChange& before) noexcept {
        has_before_ = before.has_before_;
        raw_before_ = before.raw_before_;
        before_ = before.before_;
    }
    /// Forgets the last reading, so the next one has no rate.
    void forget() noexcept { has_before_ = false; }
    [[nodiscard]] bool is_counter() const noexcept { return is_counter_; }

    /// `raw` is the value before scaling, because the raw counter is what overflows.
    [[nodiscard]] Reading process(Reading reading, double raw) noexcept;

  private:
    const bool is_counter_;
    const double scale_;
    bool has_before_ = false;
    double raw_before_ = 0.0;
    Reading before_{};
};

}  // namespace telegate::processing
