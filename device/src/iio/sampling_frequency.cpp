#include "iio/sampling_frequency.hpp"

#include "iio/attribute.hpp"

#include <array>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

namespace telegate::iio {
namespace {

constexpr std::string_view attribute = "sampling_frequency";

std::string path_in(const std::string& directory) {
    return directory + '/' + std::string(attribute);
}

/// Returns the directory of the trigger; one that does not exist if there is no such trigger.
std::string trigger_directory(const std::string& sys_root, const std::string& trigger) {
    const std::string directory = sys_root + "/bus/iio/devices/";
    for (const std::string& name : names_in(directory, "trigger", "")) {
        if (!trigger.empty() && read_attribute(directory + name + "/name") == trigger) {
            return directory + name;
        }
    }
    return directory + "trigger";
}

std::vector<std::string> places(const std::string& sys_root, const FoundDevice& device, const std::string& trigger) {
    std::vector<std::string> paths;
    if (read_attribute(path_in(device.path))) {
        return {path_in(device.path)};
    }
    for (const std::string& name : names_in(device.path, "in_", '_' + std::string(attribute))) {
        paths.push_back(device.path + '/' + name);
    }
    if (paths.empty()) {
        paths.push_back(path_in(trigger_directory(sys_root, trigger)));
    }
    return paths;
}

}  // namespace

std::string set_sampling_frequency(const std::string& sys_root, const FoundDevice& device, const std::string& trigger,
                                   double hertz) {
    std::array<char, 32> text{};  // the kernel does not accept exponents
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), hertz, std::chars_format::fixed);
    const std::string_view value(text.data(), error == std::errc{} ? static_cast<std::size_t>(end - text.data()) : 0);
    for (const std::string& path : places(sys_root, device, trigger)) {
        if (const int failure = write_attribute(path, value)) {
            return failure_text(path + ": " + std::string(value), failure);
        }
    }
    return {};
}

std::string failure_text(const std::string& path, int error) {
    return path + ": " + std::generic_category().message(error);
}

}  // namespace telegate::iio
