#include "config/setting_rules.hpp"
#include "rows.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace device_section {

using D = DeviceSettings;

constexpr std::array<std::string_view, 3> alignments{"start", "wall", "spread"};
// The least is what a thread needs to wake up and to read without never resting.
constexpr WholeRule interval_us{.min = 10, .max = 3'600'000'000};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "driver", .rule = ChoiceRule{}, .applies = Applies::live,
               .required = true,
               .meaning = "What reads the device; each driver has keys of its own.",
               .slot = slot<&D::driver>},
    SettingRow{.section = "device", .key = "interval_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live,
               .unset = "sampling_interval_ms", .meaning = "Time between two readings of this device.",
               .slot = slot<&D::interval_ms>},
    SettingRow{.section = "device", .key = "interval_us", .rule = interval_us, .unit = "us",
               .applies = Applies::live, .excludes = "interval_ms", .unset = "interval_ms",
               .meaning = "The same in microseconds, in place of interval_ms.", .slot = slot<&D::interval_us>},
    SettingRow{.section = "device", .key = "align", .rule = ChoiceRule{alignments}, .applies = Applies::live,
               .meaning = "Where its deadlines lie: counted from the start, on whole multiples of the interval by the "
                          "wall clock, or spread over the interval so that devices of one interval are not read "
                          "together.",
               .slot = slot<&D::align>},
    SettingRow{.section = "device", .key = "offset_ms", .rule = WholeRule{.min = 0, .max = 3'600'000}, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Moves its deadlines; less than the interval.", .slot = slot<&D::offset_ms>},
    SettingRow{.section = "device", .key = "errors_before_safe", .rule = WholeRule{.min = 0, .max = 1'000'000},
               .unit = "readings", .applies = Applies::live,
               .unset = "10, or 0 for a driver with a thread of its own",
               .meaning = "Failed readings in a row after which the device goes to the state safe; 0 means never.",
               .slot = slot<&D::errors_before_safe>},
    SettingRow{.section = "device", .key = "breaker_failures", .rule = WholeRule{.min = 0, .max = 1'000},
               .unit = "readings", .applies = Applies::live,
               .meaning = "Failed readings in a row after which a device with a thread of its own is left alone for a "
                          "while; 0 means never.",
               .slot = slot<&D::breaker_failures>},
    SettingRow{.section = "device", .key = "breaker_wait_ms", .rule = WholeRule{.min = 10, .max = 3'600'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "How long it is left alone at first; twice as long each time that it fails again.",
               .slot = slot<&D::breaker_wait_ms>},
    SettingRow{.section = "device", .key = "breaker_wait_max_ms", .rule = WholeRule{.min = 10, .max = 86'400'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "How long it is left alone at most; not less than breaker_wait_ms.",
               .slot = slot<&D::breaker_wait_max_ms>},
    SettingRow{.section = "device", .key = "autostart", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether the device measures from the start of the gateway.", .slot = slot<&D::autostart>},
    SettingRow{.section = "device", .key = "record", .rule = rules::file, .applies = Applies::file,
               .meaning = "File to which the samples of this device are recorded; nothing means none.",
               .slot = slot<&D::record>},
};
// clang-format on

}  // namespace device_section

std::span<const SettingRow> device_rows() noexcept {
    return device_section::rows;
}

}  // namespace telegate
