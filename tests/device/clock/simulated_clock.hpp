#pragma once

#include "device/clock_watch.hpp"

#include <cstdint>
#include <memory>

namespace telegate::test {

/// A simulated clock that a test sets, and the source that reads it.
struct SimulatedClock {
    ClockReading next{.utc_ns = 1'700'000'000'000'000'000,
                      .mono_ns = 1'000'000'000'000,
                      .between_ns = 100,
                      .sync = ClockSync::synchronized,
                      .error_estimated_s = 0.0005,
                      .error_maximum_s = 0.02,
                      .frequency_ppm = 12.5};
    int reads = 0;

    /// Advances both clocks.
    void pass(std::int64_t ns) {
        next.utc_ns += ns;
        next.mono_ns += ns;
    }
    /// Sets the wall clock. The kernel reports it once if `is_reported` is true.
    void step(std::int64_t ns, bool is_reported) {
        next.utc_ns += ns;
        next.was_set = is_reported;
    }
    std::unique_ptr<ClockSource> source() {
        class Source final : public ClockSource {
          public:
            explicit Source(SimulatedClock& clock) : clock_(clock) {}
            ClockReading read() noexcept override {
                ++clock_.reads;
                ClockReading reading = clock_.next;
                clock_.next.was_set = false;
                return reading;
            }

          private:
            SimulatedClock& clock_;
        };
        return std::make_unique<Source>(*this);
    }
    std::shared_ptr<ClockWatch> watch() { return std::make_shared<ClockWatch>(source()); }
};

}  // namespace telegate::test
