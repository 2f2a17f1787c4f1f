#include "config/setting_rules.hpp"
#include "device/driver_row.hpp"
#include "simulated/simulated_driver.hpp"

#include <array>

namespace telegate {
namespace simulated_driver {
namespace {

constexpr auto waveforms = enum_names(named_waveforms);

using O = SimulatedDriverOptions;

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "waveforms", .rule = ListRule{waveforms.names},
               .applies = Applies::live,
               .meaning = "The simulated signals; each is a channel of that name.",
               .slot = choice_of<waveforms, &O::waveforms>},
    SettingRow{.section = "device", .key = "copies", .rule = WholeRule{.min = 1, .max = 100},
               .applies = Applies::live,
               .meaning = "Number of copies of each signal; additional copies are channels NAME_2, NAME_3 and so on.",
               .slot = slot_of<&O::copies>},
    SettingRow{.section = "device", .key = "seed",
               .rule = WholeRule{.min = 0, .max = rules::whole_number_max},
               .applies = Applies::live,
               .meaning = "Seed of the random numbers; the same seed gives the same values.",
               .slot = slot_of<&O::seed>},
    SettingRow{.section = "device", .key = "amplitude", .rule = rules::level,
               .applies = Applies::live,
               .meaning = "Amplitude of sine, ramp, square and noise; random_walk moves by up to a hundredth of it per "
                          "reading.",
               .slot = slot_of<&O::amplitude>},
    SettingRow{.section = "device", .key = "offset", .rule = rules::level,
               .applies = Applies::live,
               .meaning = "Center value of all signals except counter.", .slot = slot_of<&O::offset>},
    SettingRow{.section = "device", .key = "period_ms",
               .rule = WholeRule{.min = 1, .max = 86'400'000}, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Period of sine, ramp and square.", .slot = slot_of<&O::period>},
    SettingRow{.section = "device", .key = "error_probability", .rule = rules::probability,
               .applies = Applies::live,
               .meaning = "Probability that a reading fails.", .slot = slot_of<&O::error_probability>},
    SettingRow{.section = "device", .key = "hang_probability", .rule = rules::probability,
               .applies = Applies::live,
               .meaning = "Probability per reading that the device stops responding for hang_time_ms.",
               .slot = slot_of<&O::hang_probability>},
    SettingRow{.section = "device", .key = "hang_time_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Duration of a hang.", .slot = slot_of<&O::hang_time>},
    SettingRow{.section = "device", .key = "stuck_probability", .rule = rules::probability,
               .applies = Applies::live,
               .meaning = "Probability per reading that the values freeze for stuck_time_ms.",
               .slot = slot_of<&O::stuck_probability>},
    SettingRow{.section = "device", .key = "stuck_time_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Duration of frozen values.", .slot = slot_of<&O::stuck_time>},
    SettingRow{.section = "device", .key = "burst_probability", .rule = rules::probability,
               .applies = Applies::live,
               .meaning = "Probability per reading of a burst of burst_samples samples per channel.",
               .slot = slot_of<&O::burst_probability>},
    SettingRow{.section = "device", .key = "burst_samples",
               .rule = WholeRule{.min = 1, .max = 100'000}, .unit = "samples",
               .applies = Applies::live,
               .meaning = "Samples per channel in a burst.", .slot = slot_of<&O::burst_samples>},
};
// clang-format on

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels /*channels*/) {
    return make_simulated_driver(part_of<SimulatedDriverOptions>(device.parts));
}

}  // namespace
}  // namespace simulated_driver

extern const DriverRow simulated_driver_row{
    .name = "simulated", .settings = simulated_driver::rows, .make = simulated_driver::make};

}  // namespace telegate
