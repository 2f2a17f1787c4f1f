#pragma once

#include <cstddef>
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

/// An input of a device. Its value is (raw + offset) * scale.
struct Input {
    std::string name;  // without "in_"
    std::string path;  // of the attribute with its value; "" if it has none, as in buffers only
    double offset = 0.0;
    double scale = 1.0;           // includes the factor of its kind
    int fault = 0;                // errno value of the offset or scale that could not be read; 0: both are known
    std::string fault_path = {};  // of that attribute
};

/// A device that exists.
struct FoundDevice {
    std::string name;  // iio:deviceN
    std::string path;  // its directory in sysfs
};

/// The result of a search: a device, or why there is none.
struct Search {
    FoundDevice device;
    std::string problem;  // "" if the device was found
};

inline constexpr std::size_t inputs_max = 128;

/// Finds the only device with this number, name or label. Reads attributes of all devices.
[[nodiscard]] Search find_device(const std::string& sys_root, const std::string& wanted);

/// The inputs that can be read from attributes, sorted by name; those beyond inputs_max are counted in `left_out`.
struct Inputs {
    std::vector<Input> inputs;
    std::size_t left_out = 0;
};
[[nodiscard]] Inputs list_inputs(const FoundDevice& device);

/// Returns an input with the offset and scale of the channel. Only an attribute that does not exist means 0 or 1; if
/// one cannot be read or is not a number, the input has a fault, and its value is unknown. An attribute "input" is
/// already in the unit of its kind.
[[nodiscard]] Input scaled_input(const FoundDevice& device, std::string_view channel, bool is_processed);

/// Sets the sampling frequency where the device has this attribute: on the device, on its channels, or on the trigger
/// of this name ("" for none). Returns "", or why it could not be set.
[[nodiscard]] std::string set_sampling_frequency(const std::string& sys_root, const FoundDevice& device,
                                                 const std::string& trigger, double hertz);

/// Returns "PATH: ERROR MESSAGE"; EBADMSG is a text that is not a number.
[[nodiscard]] std::string failure_text(const std::string& path, int error);

}  // namespace telegate::iio
