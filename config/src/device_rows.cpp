#include "config/setting_rules.hpp"
#include "rows.hpp"

#include <array>

namespace telegate {
namespace device_section {

using D = DeviceSettings;

// The minimum leaves a thread enough time to wake up and read without running all the time.
constexpr WholeRule interval_us{.min = 10, .max = 3'600'000'000};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "driver", .rule = ChoiceRule{}, .applies = Applies::live,
               .required = true,
               .meaning = "Driver that reads the device. Each driver has its own keys.",
               .slot = slot<&D::driver>},
    SettingRow{.section = "device", .key = "interval_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live,
               .unset = "sampling_interval_ms", .meaning = "Time between two readings of this device.",
               .slot = slot<&D::interval_ms>},
    SettingRow{.section = "device", .key = "interval_us", .rule = interval_us, .unit = "us",
               .applies = Applies::live, .excludes = "interval_ms", .unset = "interval_ms",
               .meaning = "The same as interval_ms, in microseconds. Only one of the two can be set.",
               .slot = slot<&D::interval_us>},
    SettingRow{.section = "device", .key = "align", .rule = ChoiceRule{rules::alignments}, .applies = Applies::live,
               .meaning = "When readings are due: counted from the start (start), at whole multiples of the interval "
                          "by the wall clock (wall), or spread over the interval so that devices with the same "
                          "interval are not read at the same time (spread).",
               .slot = slot<&D::align>},
    SettingRow{.section = "device", .key = "offset_ms", .rule = WholeRule{.min = 0, .max = 3'600'000}, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Shifts the times at which readings are due. Must be less than the interval.",
               .slot = slot<&D::offset_ms>},
    SettingRow{.section = "device", .key = "errors_before_safe", .rule = WholeRule{.min = 0, .max = 1'000'000},
               .unit = "readings", .applies = Applies::live,
               .unset = "10, or 0 for a driver with its own thread",
               .meaning = "Consecutive failed readings after which the device enters the safe state. 0 means never.",
               .slot = slot<&D::errors_before_safe>},
    SettingRow{.section = "device", .key = "breaker_failures", .rule = WholeRule{.min = 0, .max = 1'000},
               .unit = "readings", .applies = Applies::live,
               .meaning = "Consecutive failed readings after which the circuit breaker opens: a device with its own "
                          "thread is not read for a while. 0 means never.",
               .slot = slot<&D::breaker_failures>},
    SettingRow{.section = "device", .key = "breaker_wait_ms", .rule = WholeRule{.min = 10, .max = 3'600'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "How long the circuit breaker first stays open. The time doubles after each further failure.",
               .slot = slot<&D::breaker_wait_ms>},
    SettingRow{.section = "device", .key = "breaker_wait_max_ms", .rule = WholeRule{.min = 10, .max = 86'400'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "Upper limit of the time that the circuit breaker stays open. At least breaker_wait_ms.",
               .slot = slot<&D::breaker_wait_max_ms>},
    SettingRow{.section = "device", .key = "autostart", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether the device starts measuring when the gateway starts.", .slot = slot<&D::autostart>},
};
// clang-format on

}  // namespace device_section

std::span<const SettingRow> device_rows() noexcept {
    return device_section::rows;
}

}  // namespace telegate
