#include "rows.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace channel_section {

using C = ChannelSettings;

// Longer than any UCUM unit that is known from a device.
constexpr TextRule unit{
    .prefixes = {}, .allowed = "a unit of at most 32 bytes, or empty", .bytes_max = 32, .may_be_empty = true};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "channel", .key = "unit", .rule = unit, .applies = Applies::live,
               .meaning = "Unit of the values, such as Cel or kPa. If not set, the driver's unit.",
               .slot = slot<&C::unit>},
};
// clang-format on

}  // namespace channel_section

std::span<const SettingRow> channel_rows() noexcept {
    return channel_section::rows;
}

}  // namespace telegate
