#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::iio {

/// An input of a device, and how its value is worked out: (raw + offset) * scale.
struct Input {
    std::string name;  // without "in_"
    std::string path;  // of the attribute that holds its value; "" when it has none, as in buffers only
    double offset = 0.0;
    double scale = 1.0;  // with the factor of its kind
};

/// A device that is there.
struct FoundDevice {
    std::string name;  // iio:deviceN
    std::string path;  // its directory in sysfs
};

/// What a search came to: a device, or words that say why there is none.
struct Search {
    FoundDevice device;
    std::string problem;  // "" when it was found
};

inline constexpr std::size_t inputs_max = 128;

/// Looks for the one device with that number, name or label. Reads attributes of all devices.
[[nodiscard]] Search find_device(const std::string& sys_root, const std::string& wanted);

/// What can be read from attributes, in the order of the names; those beyond inputs_max are counted in `left_out`.
struct Inputs {
    std::vector<Input> inputs;
    std::size_t left_out = 0;
};
[[nodiscard]] Inputs list_inputs(const FoundDevice& device);

/// The offset and the scale of a channel. What an attribute "input" says is in the unit of its kind already.
[[nodiscard]] Input scaled_input(const FoundDevice& device, std::string_view channel, bool is_processed);

/// The names in a directory that begin and end so, in order.
[[nodiscard]] std::vector<std::string> names_in(const std::string& directory, std::string_view prefix,
                                                std::string_view suffix);

}  // namespace telegate::iio
