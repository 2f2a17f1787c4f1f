#pragma once

#include "device/driver.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// A signal generator of the simulated device; each is a channel of that name.
enum class Waveform : std::uint8_t { sine, ramp, square, random_walk, noise, counter };

/// All waveforms with their names, in the order of the enumerators.
inline constexpr std::pair<std::string_view, Waveform> named_waveforms[] = {
    {"sine", Waveform::sine},     {"ramp", Waveform::ramp},
    {"square", Waveform::square}, {"random_walk", Waveform::random_walk},
    {"noise", Waveform::noise},   {"counter", Waveform::counter}};
/// Returns one of each, in that order.
[[nodiscard]] std::vector<Waveform> all_waveforms();

/// Also the settings of a device with the driver simulated, which limit the values.
struct SimulatedDriverOptions {
    std::vector<Waveform> waveforms = all_waveforms();
    std::uint32_t copies = 1;  // 1 to 100 of each; additional copies are channels NAME_2, NAME_3, ...
    std::uint64_t seed = 1;    // the same seed gives the same values, tick by tick
    double amplitude = 10.0;   // of sine, ramp, square and noise; random_walk moves by a hundredth of it per step
    double offset = 20.0;      // added to all signals except counter
    std::chrono::milliseconds period{10'000};  // of sine, ramp and square
    // Faults, all off by default. Each is drawn per tick from the same seed.
    double error_probability = 0.0;  // 0 to 1: the read fails
    double hang_probability = 0.0;   // 0 to 1: the device stops responding for hang_time, and reads fail
    std::chrono::milliseconds hang_time{5'000};
    double stuck_probability = 0.0;  // 0 to 1: values freeze for stuck_time, with quality uncertain
    std::chrono::milliseconds stuck_time{5'000};
    double burst_probability = 0.0;     // 0 to 1: this tick has burst_samples samples per channel instead of one
    std::uint32_t burst_samples = 100;  // 1 to 100,000
};

/// Creates a driver with simulated signals, reproducible from a seed, and optional faults. Values depend on the seed
/// and on the time since the first read, never on the wall clock. It never blocks: a hang is a series of failed reads,
/// as of a driver with a timeout.
[[nodiscard]] std::unique_ptr<Driver> make_simulated_driver(SimulatedDriverOptions options);

}  // namespace telegate
