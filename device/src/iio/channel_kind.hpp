#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telegate::iio {

/// The meaning of a channel's values. The kernel ABI defines a unit per channel type, for values with offset and scale
/// applied; `factor` converts it to `unit`.
struct ChannelKind {
    std::string_view type;  // the beginning of the channel's name
    std::string_view unit;  // UCUM; "" if the ABI has none
    double factor = 1.0;
};

/// Returns the kind of a channel by its name without "in_", such as voltage0, voltage0-voltage1, accel_x. An unknown
/// kind has no unit. `type` views `name`.
[[nodiscard]] ChannelKind kind_of(std::string_view name) noexcept;

/// Returns the names that an attribute of a channel can have, most specific first: for the channel, for all channels of
/// its type, for all inputs, for all channels. The first existing one applies.
[[nodiscard]] std::vector<std::string> attribute_names(std::string_view channel, std::string_view attribute);

}  // namespace telegate::iio
