#include "iio/found_device.hpp"

#include "host/directory_names.hpp"
#include "iio/attribute.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

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

constexpr std::string_view device_prefix = "iio:device";
constexpr std::string_view input_prefix = "in_";
constexpr std::string_view frequency_attribute = "sampling_frequency";

/// Returns the first of the attributes that exists; `otherwise` if none exists. Records a fault of that attribute.
double number_of(Input& input, const FoundDevice& device, std::string_view attribute, double otherwise) {
    for (const std::string& name : attribute_names(input.name, attribute)) {
        std::string path = device.path + '/' + name;
        AttributeFile file(path);
        if (const auto number = file.read_number()) {
            return *number;
        }
        if (file.error() != ENOENT) {
            input.fault = file.error();
            input.fault_path = std::move(path);
            break;
        }
    }
    return otherwise;
}

std::string channel_of(const std::string& attribute, std::string_view suffix) {
    return attribute.substr(input_prefix.size(), attribute.size() - input_prefix.size() - suffix.size());
}

std::string frequency_path(const std::string& directory) {
    return directory + '/' + std::string(frequency_attribute);
}

/// Returns the directory of the trigger; one that does not exist if there is no such trigger.
std::string trigger_directory(const std::string& sys_root, const std::string& trigger) {
    const std::string directory = sys_root + "/bus/iio/devices/";
    for (const std::string& name : host::names_in(directory, "trigger", "")) {
        if (!trigger.empty() && read_attribute(directory + name + "/name") == trigger) {
            return directory + name;
        }
    }
    return directory + "trigger";
}

std::vector<std::string> frequency_paths(const std::string& sys_root, const FoundDevice& device,
                                         const std::string& trigger) {
    std::vector<std::string> paths;
    if (read_attribute(frequency_path(device.path))) {
        return {frequency_path(device.path)};
    }
    for (const std::string& name : host::names_in(device.path, "in_", '_' + std::string(frequency_attribute))) {
        paths.push_back(device.path + '/' + name);
    }
    if (paths.empty()) {
        paths.push_back(frequency_path(trigger_directory(sys_root, trigger)));
    }
    return paths;
}

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

Search find_device(const std::string& sys_root, const std::string& wanted) {
    const std::string directory = sys_root + "/bus/iio/devices";
    Search search;
    std::size_t found = 0;
    for (const std::string& name : host::names_in(directory, device_prefix, "")) {
        std::string path = directory;
        path.append("/").append(name);
        if (name == wanted || read_attribute(path + "/name") == wanted || read_attribute(path + "/label") == wanted) {
            search.device = {name, std::move(path)};
            ++found;
        }
    }
    if (found == 0) {
        search.problem = directory + ": no device has the name or label " + wanted;
    } else if (found > 1) {
        search.problem = directory + ": " + std::to_string(found) + " devices have the name or label " + wanted +
                         "; must be iio:deviceN, or a label that only one device has";
    }
    return search;
}

Inputs list_inputs(const FoundDevice& device) {
    Inputs result;
    std::vector<std::pair<std::string, bool>> channels;  // true: the attribute is already in the unit of its kind
    for (const bool is_processed : {true, false}) {
        const std::string_view suffix = is_processed ? "_input" : "_raw";
        for (const std::string& attribute : host::names_in(device.path, input_prefix, suffix)) {
            std::string channel = channel_of(attribute, suffix);
            const bool is_known =
                std::any_of(channels.begin(), channels.end(), [&](const auto& each) { return each.first == channel; });
            if (!is_known) {
                channels.emplace_back(std::move(channel), is_processed);
            }
        }
    }
    std::stable_sort(channels.begin(), channels.end(), [](const auto& left, const auto& right) {
        return left.first.size() != right.first.size() ? left.first.size() < right.first.size()
                                                       : left.first < right.first;
    });
    for (const auto& [channel, is_processed] : channels) {
        if (result.inputs.size() == inputs_max) {
            ++result.left_out;
            continue;
        }
        result.inputs.push_back(scaled_input(device, channel, is_processed));
    }
    return result;
}

Input scaled_input(const FoundDevice& device, std::string_view channel, bool is_processed) {
    Input input;
    input.name = channel;
    input.path = device.path + '/' + std::string(input_prefix) + input.name + (is_processed ? "_input" : "_raw");
    input.scale = kind_of(channel).factor;
    if (!is_processed) {
        input.scale *= number_of(input, device, "scale", 1.0);
        input.offset = number_of(input, device, "offset", 0.0);
    }
    return input;
}

std::string set_sampling_frequency(const std::string& sys_root, const FoundDevice& device, const std::string& trigger,
                                   double hertz) {
    std::array<char, 32> text{};  // the kernel does not accept exponents
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), hertz, std::chars_format::fixed);
    const std::string_view value(text.data(), error == std::errc{} ? static_cast<std::size_t>(end - text.data()) : 0);
    for (const std::string& path : frequency_paths(sys_root, device, trigger)) {
        if (const int failure = write_attribute(path, value)) {
            return failure_text(path + ": " + std::string(value), failure);
        }
    }
    return {};
}

std::string failure_text(const std::string& path, int error) {
    if (error == EBADMSG) {
        return path + ": not a number";
    }
    return path + ": " + std::generic_category().message(error);
}

}  // namespace telegate::iio
