#pragma once

#include "core/clock.hpp"
#include "random.hpp"
#include "simulated/simulated_driver.hpp"

#include <cstdint>
#include <string_view>

namespace telegate {

[[nodiscard]] std::string_view to_string(Waveform waveform) noexcept;

/// One channel of the simulated device. sine, ramp and square depend on the time; the others on their own count of
/// values.
///
/// Threads: one.
/// Limits: no allocation; the counter wraps after 2^63 values.
/// Failure: none.
class WaveformGenerator {
  public:
    struct Value {
        bool is_integer = false;
        double real = 0.0;
        std::int64_t integer = 0;
    };

    WaveformGenerator(Waveform waveform, const SimulatedDriverOptions& options, std::uint64_t seed) noexcept;

    /// Returns the next value. `elapsed` is the time since the first read.
    [[nodiscard]] Value next(Duration elapsed) noexcept;

  private:
    [[nodiscard]] double phase(Duration elapsed) const noexcept;
    [[nodiscard]] double walk() noexcept;
    [[nodiscard]] double noise() noexcept;

    Waveform waveform_;
    double amplitude_;
    double offset_;
    Duration period_;
    RandomStream random_;
    std::int64_t count_ = 0;  // number of values so far
    double distance_ = 0.0;   // distance of the random walk from its offset
};

}  // namespace telegate
