#include "rows.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace tags_section {

using T = TagSettings;

// A tag is repeated in every payload.
constexpr TextRule value{.prefixes = {}, .allowed = "a text of 1 to 128 bytes", .bytes_max = 128};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "tags", .key = "value", .rule = value, .required = true,
               .meaning = "Text of the tag. A section [tags] without a name defines several tags, each as NAME = "
                          "VALUE.",
               .slot = slot<&T::value>},
};
// clang-format on

}  // namespace tags_section

std::span<const SettingRow> tags_rows() noexcept {
    return tags_section::rows;
}

}  // namespace telegate
