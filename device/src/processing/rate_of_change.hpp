#pragma once

#include "device/processing.hpp"
#include "processing/reading.hpp"

#include <cstdint>

namespace telegate::processing {

/// Makes the change per second of what has come before out of a value.
///
/// There is none for the first value, at a time that does not advance, and when a counter began anew: then the reading
/// has no value and quality bad. A counter that falls has run over at 32 bits when it had been below 2^32 and the step
/// across is under half of that; otherwise it began anew.
///
/// Threads: one. Limits: no memory but its own. Failure: none.
class RateOfChange {
  public:
    explicit RateOfChange(const ChannelProcessing& processing) noexcept
        : is_counter_(processing.derive == Derive::counter_rate), scale_(processing.scale) {}

    /// Continues from the last reading of another one, whose values have the same scale.
    void continue_from(const RateOfChange& before) noexcept {
        has_before_ = before.has_before_;
        raw_before_ = before.raw_before_;
        before_ = before.before_;
    }
    [[nodiscard]] bool is_counter() const noexcept { return is_counter_; }

    /// `raw` is the value before it was scaled, which is what runs over.
    [[nodiscard]] Reading take(Reading reading, double raw) noexcept;

  private:
    const bool is_counter_;
    const double scale_;
    bool has_before_ = false;
    double raw_before_ = 0.0;
    Reading before_{};
};

}  // namespace telegate::processing
