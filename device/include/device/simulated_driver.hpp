#pragma once

#include "device/driver.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace telegate {

/// One generator of the simulated device; each is a channel of that name.
enum class Waveform : std::uint8_t { sine, ramp, square, random_walk, noise, counter };

/// One of each, in the order above.
[[nodiscard]] std::vector<Waveform> all_waveforms();

struct SimulatedDriverOptions {
    std::vector<Waveform> waveforms = all_waveforms();
    std::uint32_t copies = 1;  // 1 to 100 of each; those behind the first are channels NAME_2, NAME_3, ...
    std::uint64_t seed = 1;    // the same seed gives the same values, tick by tick
    double amplitude = 10.0;   // of sine, ramp, square and noise, and the step of random_walk times 100
    double offset = 20.0;      // added to all but counter
    std::chrono::milliseconds period{10'000};  // of sine, ramp and square
    // Faults, all off by default. Each is drawn per tick from the same seed.
    double error_probability = 0.0;  // 0 to 1: the read fails
    double hang_probability = 0.0;   // 0 to 1: the device stops answering for hang_time; reads fail meanwhile
    std::chrono::milliseconds hang_time{5'000};
    double stuck_probability = 0.0;  // 0 to 1: values freeze for stuck_time, with quality uncertain
    std::chrono::milliseconds stuck_time{5'000};
    double burst_probability = 0.0;     // 0 to 1: this tick gives burst_samples samples per channel instead of one
    std::uint32_t burst_samples = 100;  // 1 to 100,000
};

/// Made-up signals, reproducible from a seed, with faults on request. Values depend on the seed and on the time since
/// the first read, never on the wall clock. Never blocks: a hang is reads that fail, as a driver with a deadline sees
/// it.
[[nodiscard]] std::unique_ptr<Driver> make_simulated_driver(SimulatedDriverOptions options);

}  // namespace telegate
