#include "rows.hpp"
#include "setting_rules.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace simulated_section {

using D = DeviceSettings;
using M = SimulatedSettings;

constexpr std::array<std::string_view, 6> waveforms{"sine", "ramp", "square", "random_walk", "noise", "counter"};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .driver = "simulated", .key = "waveforms", .rule = ListRule{waveforms},
               .applies = Applies::live,
               .meaning = "The signals, each a channel of that name.", .slot = slot<&D::simulated, &M::waveforms>},
    SettingRow{.section = "device", .driver = "simulated", .key = "copies", .rule = WholeRule{.min = 1, .max = 100},
               .applies = Applies::live,
               .meaning = "How often there is each signal; the second is the channel NAME_2, and so on.",
               .slot = slot<&D::simulated, &M::copies>},
    SettingRow{.section = "device", .driver = "simulated", .key = "seed",
               .rule = WholeRule{.min = 0, .max = rules::whole_number_max},
               .applies = Applies::live,
               .meaning = "The same seed gives the same values.", .slot = slot<&D::simulated, &M::seed>},
    SettingRow{.section = "device", .driver = "simulated", .key = "amplitude", .rule = rules::level,
               .applies = Applies::live,
               .meaning = "Height of sine, ramp, square and noise above their middle.",
               .slot = slot<&D::simulated, &M::amplitude>},
    SettingRow{.section = "device", .driver = "simulated", .key = "offset", .rule = rules::level,
               .applies = Applies::live,
               .meaning = "Middle of every signal but counter.", .slot = slot<&D::simulated, &M::offset>},
    SettingRow{.section = "device", .driver = "simulated", .key = "period_ms",
               .rule = WholeRule{.min = 1, .max = 86'400'000}, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Period of sine, ramp and square.", .slot = slot<&D::simulated, &M::period_ms>},
    SettingRow{.section = "device", .driver = "simulated", .key = "error_probability", .rule = rules::probability,
               .applies = Applies::live,
               .meaning = "Chance that a reading fails.", .slot = slot<&D::simulated, &M::error_probability>},
    SettingRow{.section = "device", .driver = "simulated", .key = "hang_probability", .rule = rules::probability,
               .applies = Applies::live,
               .meaning = "Chance at each reading that the device stops answering for hang_time_ms.",
               .slot = slot<&D::simulated, &M::hang_probability>},
    SettingRow{.section = "device", .driver = "simulated", .key = "hang_time_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "How long a hang lasts.", .slot = slot<&D::simulated, &M::hang_time_ms>},
    SettingRow{.section = "device", .driver = "simulated", .key = "stuck_probability", .rule = rules::probability,
               .applies = Applies::live,
               .meaning = "Chance at each reading that the values freeze for stuck_time_ms.",
               .slot = slot<&D::simulated, &M::stuck_probability>},
    SettingRow{.section = "device", .driver = "simulated", .key = "stuck_time_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "How long the values stay frozen.", .slot = slot<&D::simulated, &M::stuck_time_ms>},
    SettingRow{.section = "device", .driver = "simulated", .key = "burst_probability", .rule = rules::probability,
               .applies = Applies::live,
               .meaning = "Chance that a reading gives burst_samples samples per channel instead of one.",
               .slot = slot<&D::simulated, &M::burst_probability>},
    SettingRow{.section = "device", .driver = "simulated", .key = "burst_samples",
               .rule = WholeRule{.min = 1, .max = 100'000}, .unit = "samples",
               .applies = Applies::live,
               .meaning = "Samples per channel in a burst.", .slot = slot<&D::simulated, &M::burst_samples>},
};
// clang-format on

}  // namespace simulated_section

std::span<const SettingRow> simulated_rows() noexcept {
    return simulated_section::rows;
}

}  // namespace telegate
