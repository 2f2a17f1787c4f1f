#include "rows.hpp"
#include "setting_rules.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace replay_section {

using D = DeviceSettings;
using R = ReplaySettings;

constexpr std::array<std::string_view, 2> modes{"timed", "stepped"};
constexpr std::array<std::string_view, 2> times{"now", "recorded"};
constexpr TextRule recording{.prefixes = {}, .allowed = "the path of a recording"};
constexpr TextRule source{.prefixes = {}, .allowed = "the name of a recorded device, or nothing", .may_be_empty = true};
constexpr RealRule speed{.min = 0.001, .max = 1'000.0};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .driver = "replay", .key = "file", .rule = recording, .applies = Applies::file,
               .required = true,
               .meaning = "The recording that is played.", .slot = slot<&D::replay, &R::file>},
    SettingRow{.section = "device", .driver = "replay", .key = "mode", .rule = ChoiceRule{modes},
               .applies = Applies::live,
               .meaning = "Played as far apart as it was recorded, or one recorded moment at each reading.",
               .slot = slot<&D::replay, &R::mode>},
    SettingRow{.section = "device", .driver = "replay", .key = "speed", .rule = speed, .applies = Applies::live,
               .meaning = "How many times faster than it was recorded, when it is timed.",
               .slot = slot<&D::replay, &R::speed>},
    SettingRow{.section = "device", .driver = "replay", .key = "loop", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether it begins again when it ends.", .slot = slot<&D::replay, &R::loop>},
    SettingRow{.section = "device", .driver = "replay", .key = "source", .rule = source, .applies = Applies::live,
               .meaning = "The recorded device whose channels are played; nothing means all devices, whose channels "
                          "then are called DEVICE.CHANNEL.",
               .slot = slot<&D::replay, &R::source>},
    SettingRow{.section = "device", .driver = "replay", .key = "use_time", .rule = ChoiceRule{times},
               .applies = Applies::live,
               .meaning = "Whether samples carry the time when they are played, or when they were recorded.",
               .slot = slot<&D::replay, &R::use_time>},
};
// clang-format on

}  // namespace replay_section

std::span<const SettingRow> replay_rows() noexcept {
    return replay_section::rows;
}

}  // namespace telegate
