#include "config/setting_rules.hpp"
#include "device/driver_row.hpp"
#include "iio/iio_driver.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {
namespace iio_driver {
namespace {

using I = IioDriverOptions;

constexpr std::array<std::string_view, 2> clocks{"monotonic", "realtime"};
constexpr TextRule device_rule{
    .holds = Holds::path, .prefixes = {}, .allowed = "a name, a label, or iio:deviceN", .bytes_max = 128};
constexpr TextRule trigger_rule{.holds = Holds::path,
                                .prefixes = {},
                                .allowed = "the name of a trigger, or empty",
                                .bytes_max = 128,
                                .may_be_empty = true};
constexpr TextListRule channels_rule{.holds = Holds::path,
                                     .allowed = "the name of an input, such as voltage0 or accel_x",
                                     .bytes_max = 64,
                                     .count_max = 128};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "device", .rule = device_rule, .applies = Applies::file,
               .required = true,
               .meaning = "Name or label of the device, or iio:deviceN.",
               .slot = slot_of<&I::device>},
    SettingRow{.section = "device", .key = "channels", .rule = channels_rule, .applies = Applies::file,
               .meaning = "Inputs to read, named as in sysfs without in_. Empty means all.",
               .slot = slot_of<&I::channels>},
    SettingRow{.section = "device", .key = "buffered", .rule = BooleanRule{},
               .applies = Applies::file,
               .meaning = "Whether every frame of the device's buffer is read, with the timestamps of the kernel, "
                          "instead of one value per interval.",
               .slot = slot_of<&I::buffered>},
    SettingRow{.section = "device", .key = "trigger", .rule = trigger_rule, .applies = Applies::file,
               .meaning = "With buffered: the trigger that makes the device capture a frame. Empty keeps the current "
                          "one.",
               .slot = slot_of<&I::trigger>},
    SettingRow{.section = "device", .key = "buffer_length",
               .rule = WholeRule{.min = 1, .max = 65'536}, .unit = "frames", .applies = Applies::file,
               .meaning = "With buffered: number of frames that the kernel buffers for the gateway.",
               .slot = slot_of<&I::buffer_length>},
    SettingRow{.section = "device", .key = "sampling_frequency",
               .rule = RealRule{.min = 1e-6, .max = 1e9}, .unit = "Hz", .applies = Applies::file,
               .unset = "the current setting of the device",
               .meaning = "Sampling frequency of the device.", .slot = slot_of<&I::sampling_frequency>},
    SettingRow{.section = "device", .key = "timestamp_clock", .rule = ChoiceRule{clocks},
               .applies = Applies::file,
               .meaning = "With buffered: clock of the kernel's timestamps.",
               .slot = slot_of<&I::timestamp_clock>},
    SettingRow{.section = "device", .key = "silence_ms",
               .rule = WholeRule{.min = 0, .max = 86'400'000}, .unit = "ms", .applies = Applies::live,
               .meaning = "With buffered: time without a frame after which the reading fails. 0 means never.",
               .slot = slot_of<&I::silence_ms>},
    SettingRow{.section = "device", .key = "sys_root", .rule = rules::directory,
               .applies = Applies::file,
               .meaning = "Directory where sysfs is mounted.", .slot = slot_of<&I::sys_root>},
    SettingRow{.section = "device", .key = "dev_root", .rule = rules::directory,
               .applies = Applies::file,
               .meaning = "Directory of the character devices.", .slot = slot_of<&I::dev_root>},
};
// clang-format on

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels /*channels*/) {
    return make_iio_driver(part_of<IioDriverOptions>(device.parts));
}

std::optional<std::vector<std::string>> channels_now(const DeviceSettings& device, DeviceChannels /*channels*/) {
    const auto& from = part_of<IioDriverOptions>(device.parts);
    if (from.buffered) {
        return std::nullopt;
    }
    std::vector<std::string> names = iio_channels_now(from.sys_root, from.device);
    return names.empty() ? std::nullopt : std::optional(std::move(names));
}

}  // namespace
}  // namespace iio_driver

extern const DriverRow iio_driver_row{
    .name = "iio", .settings = iio_driver::rows, .make = iio_driver::make, .channels_now = iio_driver::channels_now};

}  // namespace telegate
