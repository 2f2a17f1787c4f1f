#include "types/common_settings.hpp"
#include "uplink/uplink_row.hpp"
#include "uplink/uplink_types.hpp"

#include "config/type_rows.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace telegate {

#define TELEGATE_DECLARE_ROW(type) extern const uplink::UplinkRow type##_uplink_row;
TELEGATE_UPLINK_TYPES(TELEGATE_DECLARE_ROW)
#undef TELEGATE_DECLARE_ROW

namespace {

#define TELEGATE_ROW(type) &type##_uplink_row,
constexpr std::array types{TELEGATE_UPLINK_TYPES(TELEGATE_ROW)};
#undef TELEGATE_ROW

}  // namespace

std::span<const TypeRows> uplink_rows() {
    static const auto rows = [] {
        std::array<TypeRows, types.size() + 1> all{{{.type = "", .rows = common_uplink_settings()}}};
        std::transform(types.begin(), types.end(), all.begin() + 1, [](const uplink::UplinkRow* each) {
            return TypeRows{each->type, each->settings};
        });
        return all;
    }();
    return rows;
}

const uplink::UplinkRow& uplink::find_uplink_type(std::string_view type) {
    const auto* const found =
        std::find_if(types.begin(), types.end(), [&](const UplinkRow* each) { return each->type == type; });
    if (found == types.end()) {
        throw std::invalid_argument("unknown type of uplink \"" + std::string(type) + "\"");
    }
    return **found;
}

}  // namespace telegate
