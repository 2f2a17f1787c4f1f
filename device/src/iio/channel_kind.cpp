#include "iio/channel_kind.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace telegate::iio {
namespace {

constexpr std::array<ChannelKind, 32> kinds{{
    {"voltage", "mV"},
    {"altvoltage", "mV"},
    {"current", "mA"},
    {"altcurrent", "mA"},
    {"power", "mW"},
    {"temp", "Cel", 0.001},  // millidegrees in the ABI
    {"accel", "m/s2"},
    {"gravity", "m/s2"},
    {"anglvel", "rad/s"},
    {"angl", "rad"},
    {"deltaangl", "rad"},
    {"deltavelocity", "m/s"},
    {"velocity", "m/s"},
    {"incli", "deg"},
    {"magn", "G"},
    {"illuminance", "lx"},
    {"pressure", "kPa"},
    {"humidityrelative", "%", 0.001},
    {"positionrelative", "%", 0.001},
    {"concentration", "%"},
    {"activity", "%"},
    {"massconcentration", "ug/m3"},
    {"resistance", "Ohm"},
    {"capacitance", "nF"},
    {"electricalconductivity", "S/m"},
    {"distance", "m"},
    {"energy", "J"},
    {"phase", "rad"},
    {"ph", "[pH]"},
    {"colortemp", "K"},
    {"steps", "1"},
    {"count", "1"},
}};

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";

}  // namespace

ChannelKind kind_of(std::string_view name) noexcept {
    const std::string_view type = name.substr(0, name.find_first_not_of(letters));
    const auto known =
        std::find_if(kinds.begin(), kinds.end(), [&](const ChannelKind& kind) { return kind.type == type; });
    return known == kinds.end() ? ChannelKind{type, "", 1.0} : ChannelKind{type, known->unit, known->factor};
}

std::vector<std::string> attribute_names(std::string_view channel, std::string_view attribute) {
    const std::string suffix = '_' + std::string(attribute);
    std::vector<std::string> names{"in_" + std::string(channel) + suffix};
    std::string shared = "in_" + std::string(kind_of(channel).type);
    if (const std::size_t dash = channel.find('-'); dash != std::string_view::npos) {  // a difference of two channels
        names.push_back(shared + '-' + std::string(kind_of(channel.substr(dash + 1)).type) + suffix);
    }
    names.push_back(shared + suffix);
    names.push_back("in" + suffix);
    names.emplace_back(attribute);
    return names;
}

}  // namespace telegate::iio
