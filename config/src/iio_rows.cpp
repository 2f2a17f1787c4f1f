#include "rows.hpp"
#include "setting_rules.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace iio_section {

using D = DeviceSettings;
using I = IioSettings;

constexpr std::array<std::string_view, 2> clocks{"monotonic", "realtime"};
constexpr TextRule device{.prefixes = {}, .allowed = "a name, a label, or iio:deviceN", .bytes_max = 128};
constexpr TextRule trigger{
    .prefixes = {}, .allowed = "the name of a trigger, or nothing", .bytes_max = 128, .may_be_empty = true};
constexpr TextListRule channels{
    .allowed = "the name of an input, such as voltage0 or accel_x", .bytes_max = 64, .count_max = 128};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .driver = "iio", .key = "device", .rule = device, .applies = Applies::file,
               .required = true,
               .meaning = "What the attribute name or label of the device says, or iio:deviceN.",
               .slot = slot<&D::iio, &I::device>},
    SettingRow{.section = "device", .driver = "iio", .key = "channels", .rule = channels, .applies = Applies::file,
               .meaning = "Inputs that are read, named as in sysfs without in_; nothing means all.",
               .slot = slot<&D::iio, &I::channels>},
    SettingRow{.section = "device", .driver = "iio", .key = "buffered", .rule = BooleanRule{},
               .applies = Applies::file,
               .meaning = "Whether every frame of the device's buffer is taken, with the kernel's times, rather than one "
                          "look at each interval.",
               .slot = slot<&D::iio, &I::buffered>},
    SettingRow{.section = "device", .driver = "iio", .key = "trigger", .rule = trigger, .applies = Applies::file,
               .meaning = "With buffered: what makes the device take a frame; nothing leaves it as it is set.",
               .slot = slot<&D::iio, &I::trigger>},
    SettingRow{.section = "device", .driver = "iio", .key = "buffer_length",
               .rule = WholeRule{.min = 1, .max = 65'536}, .unit = "frames", .applies = Applies::file,
               .meaning = "With buffered: frames that the kernel keeps for the gateway.",
               .slot = slot<&D::iio, &I::buffer_length>},
    SettingRow{.section = "device", .driver = "iio", .key = "sampling_frequency",
               .rule = RealRule{.min = 1e-6, .max = 1e9}, .unit = "Hz", .applies = Applies::file,
               .unset = "as it is set in the device",
               .meaning = "How often the device samples by itself.", .slot = slot<&D::iio, &I::sampling_frequency>},
    SettingRow{.section = "device", .driver = "iio", .key = "timestamp_clock", .rule = ChoiceRule{clocks},
               .applies = Applies::file,
               .meaning = "With buffered: which clock the kernel takes the times of frames from.",
               .slot = slot<&D::iio, &I::timestamp_clock>},
    SettingRow{.section = "device", .driver = "iio", .key = "silence_ms",
               .rule = WholeRule{.min = 0, .max = 86'400'000}, .unit = "ms", .applies = Applies::live,
               .meaning = "With buffered: time without a frame after which reading has failed; 0 means never.",
               .slot = slot<&D::iio, &I::silence_ms>},
    SettingRow{.section = "device", .driver = "iio", .key = "sys_root", .rule = rules::directory,
               .applies = Applies::file,
               .meaning = "Where sysfs is mounted.", .slot = slot<&D::iio, &I::sys_root>},
    SettingRow{.section = "device", .driver = "iio", .key = "dev_root", .rule = rules::directory,
               .applies = Applies::file,
               .meaning = "Where the character devices are.", .slot = slot<&D::iio, &I::dev_root>},
};
// clang-format on

}  // namespace iio_section

std::span<const SettingRow> iio_rows() noexcept {
    return iio_section::rows;
}

}  // namespace telegate
