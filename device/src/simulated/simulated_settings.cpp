#include "config/enum_names.hpp"
#include "config/setting_rules.hpp"
#include "device/driver_row.hpp"
#include "simulated/simulated_driver.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace telegate {
namespace simulated_driver {
namespace {

constexpr auto waveforms = enum_names(named_waveforms);

/// The settings of a device with the driver simulated.
struct SimulatedSettings {
    std::vector<std::string> waveforms{simulated_driver::waveforms.names.begin(),
                                       simulated_driver::waveforms.names.end()};
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

using M = SimulatedSettings;

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "waveforms", .rule = ListRule{waveforms.names},
               .applies = Applies::live,
               .meaning = "The simulated signals; each is a channel of that name.", .slot = driver_slot<&M::waveforms>},
    SettingRow{.section = "device", .key = "copies", .rule = WholeRule{.min = 1, .max = 100},
               .applies = Applies::live,
               .meaning = "Number of copies of each signal; additional copies are channels NAME_2, NAME_3 and so on.",
               .slot = driver_slot<&M::copies>},
    SettingRow{.section = "device", .key = "seed",
               .rule = WholeRule{.min = 0, .max = rules::whole_number_max},
               .applies = Applies::live,
               .meaning = "Seed of the random numbers; the same seed gives the same values.",
               .slot = driver_slot<&M::seed>},
    SettingRow{.section = "device", .key = "amplitude", .rule = rules::level,
               .applies = Applies::live,
               .meaning = "Amplitude of sine, ramp, square and noise; random_walk moves by up to a hundredth of it per "
                          "reading.",
               .slot = driver_slot<&M::amplitude>},
    SettingRow{.section = "device", .key = "offset", .rule = rules::level,
               .applies = Applies::live,
               .meaning = "Center value of all signals except counter.", .slot = driver_slot<&M::offset>},
    SettingRow{.section = "device", .key = "period_ms",
               .rule = WholeRule{.min = 1, .max = 86'400'000}, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Period of sine, ramp and square.", .slot = driver_slot<&M::period_ms>},
    SettingRow{.section = "device", .key = "error_probability", .rule = rules::probability,
               .applies = Applies::live,
               .meaning = "Probability that a reading fails.", .slot = driver_slot<&M::error_probability>},
    SettingRow{.section = "device", .key = "hang_probability", .rule = rules::probability,
               .applies = Applies::live,
               .meaning = "Probability per reading that the device stops responding for hang_time_ms.",
               .slot = driver_slot<&M::hang_probability>},
    SettingRow{.section = "device", .key = "hang_time_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Duration of a hang.", .slot = driver_slot<&M::hang_time_ms>},
    SettingRow{.section = "device", .key = "stuck_probability", .rule = rules::probability,
               .applies = Applies::live,
               .meaning = "Probability per reading that the values freeze for stuck_time_ms.",
               .slot = driver_slot<&M::stuck_probability>},
    SettingRow{.section = "device", .key = "stuck_time_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Duration of frozen values.", .slot = driver_slot<&M::stuck_time_ms>},
    SettingRow{.section = "device", .key = "burst_probability", .rule = rules::probability,
               .applies = Applies::live,
               .meaning = "Probability per reading of a burst of burst_samples samples per channel.",
               .slot = driver_slot<&M::burst_probability>},
    SettingRow{.section = "device", .key = "burst_samples",
               .rule = WholeRule{.min = 1, .max = 100'000}, .unit = "samples",
               .applies = Applies::live,
               .meaning = "Samples per channel in a burst.", .slot = driver_slot<&M::burst_samples>},
};
// clang-format on

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels /*channels*/) {
    const SimulatedSettings& from = part_of<SimulatedSettings>(device.driver_settings);
    SimulatedDriverOptions options;
    options.waveforms.clear();
    for (const std::string& name : from.waveforms) {
        options.waveforms.push_back(waveforms.value(name));
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

}  // namespace
}  // namespace simulated_driver

extern const DriverRow simulated_driver_row{
    .name = "simulated", .settings = simulated_driver::rows, .make = simulated_driver::make};

}  // namespace telegate
