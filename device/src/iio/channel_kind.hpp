#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telegate::iio {

/// What a value of a channel means. The kernel's ABI fixes a unit per type of channel, for values with offset and scale
/// applied; `factor` makes of it the unit that is told.
struct ChannelKind {
    std::string_view type;  // as the channel's name begins with
    std::string_view unit;  // UCUM; "" where the ABI has none
    double factor = 1.0;
};

/// The kind of a channel by its name without "in_", such as voltage0, voltage0-voltage1, accel_x. One that is not known
/// has no unit. The type is part of `name`.
[[nodiscard]] ChannelKind kind_of(std::string_view name) noexcept;

/// Where an attribute of a channel may stand, nearest first: of its own, of all of its type, of all inputs, of all
/// channels. The first that exists holds.
[[nodiscard]] std::vector<std::string> attribute_names(std::string_view channel, std::string_view attribute);

}  // namespace telegate::iio
