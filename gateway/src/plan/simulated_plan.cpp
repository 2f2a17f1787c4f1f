#include "device/simulated_driver.hpp"
#include "plan/drivers.hpp"

#include <array>
#include <chrono>
#include <string_view>

namespace telegate {
namespace {

/// Indexed by the order of the enumerators, named as in the settings table.
constexpr std::array<std::string_view, 6> waveform_names{"sine", "ramp", "square", "random_walk", "noise", "counter"};

Waveform to_waveform(std::string_view name) {
    std::size_t index = 0;
    while (index + 1 < waveform_names.size() && waveform_names[index] != name) {
        ++index;
    }
    return static_cast<Waveform>(index);
}

}  // namespace

std::unique_ptr<Driver> make_simulated(const DeviceSettings& device, DeviceChannels /*channels*/) {
    const SimulatedSettings& from = device.simulated;
    SimulatedDriverOptions options;
    options.waveforms.clear();
    for (const std::string& name : from.waveforms) {
        options.waveforms.push_back(to_waveform(name));
    }
    options.copies = static_cast<std::uint32_t>(from.copies);
    options.seed = static_cast<std::uint64_t>(from.seed);
    options.amplitude = from.amplitude;
    options.offset = from.offset;
    options.period = std::chrono::milliseconds(from.period_ms);
    options.error_probability = from.error_probability;
    options.hang_probability = from.hang_probability;
    options.hang_time = std::chrono::milliseconds(from.hang_time_ms);
    options.stuck_probability = from.stuck_probability;
    options.stuck_time = std::chrono::milliseconds(from.stuck_time_ms);
    options.burst_probability = from.burst_probability;
    options.burst_samples = static_cast<std::uint32_t>(from.burst_samples);
    return make_simulated_driver(options);
}

}  // namespace telegate
