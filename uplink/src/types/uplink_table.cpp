#include "types/common_settings.hpp"
#include "uplink/uplink_row.hpp"

#include "config/type_rows.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace telegate {

extern const uplink::UplinkRow influxdb_uplink_row;
extern const uplink::UplinkRow nats_uplink_row;

namespace {

constexpr std::array types{&influxdb_uplink_row, &nats_uplink_row};

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
