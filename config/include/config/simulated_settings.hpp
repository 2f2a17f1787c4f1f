#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telegate {

/// What a device with the driver simulated says.
struct SimulatedSettings {
    std::vector<std::string> waveforms{"sine", "ramp", "square", "random_walk", "noise", "counter"};
    std::int64_t copies = 1;  // of each waveform
    std::int64_t seed = 1;
    double amplitude = 10.0;
    double offset = 20.0;
    std::int64_t period_ms = 10'000;
    double error_probability = 0.0;
    double hang_probability = 0.0;
    std::int64_t hang_time_ms = 5'000;
    double stuck_probability = 0.0;
    std::int64_t stuck_time_ms = 5'000;
    double burst_probability = 0.0;
    std::int64_t burst_samples = 100;
};

}  // namespace telegate
