#include "iio/frame_buffer.hpp"

#include "host/directory_names.hpp"
#include "iio/attribute.hpp"
#include "iio/found_device.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace telegate::iio {
namespace {

constexpr std::string_view timestamp_channel = "timestamp";
constexpr std::string_view enable_suffix = "_en";

bool is_wanted(const IioDriverOptions& options, const std::string& channel) {
    const auto& names = options.channels;
    return channel == timestamp_channel || names.empty() ||
           std::find(names.begin(), names.end(), channel) != names.end();
}

}  // namespace

std::string FrameBuffer::start(const FoundDevice& device, const IioDriverOptions& options) {
    stop();
    node_ = options.dev_root + '/' + device.name;
    // The device can only be open once. It is opened before anything is written, so another program that has it open
    // does not lose frames.
    descriptor_ = UniqueFd(::open(node_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (!is_started()) {
        return failure_text(node_, errno);
    }
    enable_path_ = device.path + "/buffer/enable";
    std::string problem = set_up(device, options);
    if (!problem.empty()) {
        stop();
    }
    return problem;
}

void FrameBuffer::stop() noexcept {
    if (is_started()) {
        static_cast<void>(write_attribute(enable_path_, "0"));  // fails if the device was removed, which is fine
        descriptor_ = {};
    }
    filled_ = 0;
    taken_ = 0;
}

std::string FrameBuffer::set_up(const FoundDevice& device, const IioDriverOptions& options) {
    if (const int error = write_attribute(enable_path_, "0")) {  // it may still be enabled after a crash
        return failure_text(enable_path_, error);
    }
    if (std::string problem = choose_channels(device, options); !problem.empty()) {
        return problem;
    }
    const std::string clock_path = device.path + "/current_timestamp_clock";
    static_cast<void>(write_attribute(clock_path, options.timestamp_clock));
    AttributeFile clock(clock_path);
    const auto clock_name = clock.read_text();
    if (!clock_name && clock.error() != ENOENT) {
        return failure_text(clock_path, clock.error());
    }
    is_realtime_ = clock_name != "monotonic";  // kernels before 4.8 always use the realtime clock
    const std::array<std::pair<std::string, std::string>, 2> values{{
        {device.path + "/trigger/current_trigger", options.trigger},
        {device.path + "/buffer/length", std::to_string(options.buffer_length)},
    }};
    for (const auto& [path, value] : values) {
        const int error = value.empty() ? 0 : write_attribute(path, value);
        if (error != 0) {
            std::string what = path;
            what.append(": \"").append(value).append("\"");
            return failure_text(what, error);
        }
    }
    const int error = write_attribute(enable_path_, "1");
    return error == 0 ? std::string() : failure_text(enable_path_, error);
}

std::string FrameBuffer::choose_channels(const FoundDevice& device, const IioDriverOptions& options) {
    const std::string directory = device.path + "/scan_elements/";
    std::vector<std::string> on;
    for (const bool puts_on : {false, true}) {  // disables channels first: some devices limit how many can be enabled
        for (const std::string& attribute : host::names_in(directory, "in_", enable_suffix)) {
            constexpr std::size_t prefix_bytes = 3;
            std::string channel =
                attribute.substr(prefix_bytes, attribute.size() - prefix_bytes - enable_suffix.size());
            if (is_wanted(options, channel) != puts_on) {
                continue;
            }
            if (const int error = write_attribute(directory + attribute, puts_on ? "1" : "0")) {
                return failure_text(directory + attribute, error);
            }
            if (puts_on) {
                on.push_back(std::move(channel));
            }
        }
    }
    return lay_out(device, on);
}

std::string FrameBuffer::lay_out(const FoundDevice& device, const std::vector<std::string>& channels) {
    struct Element {
        double index = 0;
        ScanType type;
        std::string channel;
    };
    const std::string stem = device.path + "/scan_elements/in_";
    std::vector<Element> elements;
    for (const std::string& channel : channels) {
        const std::string path = stem + channel;
        const auto index = read_number(path + "_index");
        const std::string text = read_attribute(path + "_type").value_or("");
        const auto type = parse_scan_type(text);
        if (!index || !type) {
            std::string what = path;
            return what.append("_type: invalid type or index: \"")
                .append(text)
                .append("\"; must be a type such as le:s12/16>>4, and an index");
        }
        elements.push_back({*index, *type, channel});
    }
    std::sort(elements.begin(), elements.end(),
              [](const Element& left, const Element& right) { return left.index < right.index; });
    layout_ = {};
    inputs_.clear();
    timestamp_.reset();
    for (const Element& element : elements) {
        if (element.channel == timestamp_channel) {
            timestamp_ = inputs_.size();
            inputs_.emplace_back().name = element.channel;
        } else {
            inputs_.push_back(scaled_input(device, element.channel, false));
        }
        if (!layout_.add(element.type)) {
            return stem + "*: " + std::to_string(elements.size()) + " channels; must be at most " +
                   std::to_string(elements_max);
        }
    }
    if (inputs_.size() == (timestamp_ ? 1U : 0U)) {
        return stem + "*_en: none of the requested channels exists";
    }
    bytes_.resize(bytes_max);  // holds elements_max of the longest elements
    return {};
}

void FrameBuffer::read_missing_scales(const FoundDevice& device) {
    for (Input& input : inputs_) {
        if (input.fault != 0) {
            input = scaled_input(device, input.name, false);
        }
    }
}

int FrameBuffer::fill() noexcept {
    std::memmove(bytes_.data(), bytes_.data() + taken_, filled_ - taken_);
    filled_ -= taken_;
    taken_ = 0;
    // The kernel returns whole frames, and may refuse a read of less than one.
    const std::size_t frame = layout_.frame_bytes();
    const std::size_t room = bytes_.size() / frame * frame - filled_;
    const ssize_t got = ::read(descriptor_.get(), bytes_.data() + filled_, room);
    if (got > 0) {
        filled_ += static_cast<std::size_t>(got);
        return 0;
    }
    if (got == 0) {
        return ENODEV;
    }
    return errno == EAGAIN || errno == EINTR ? 0 : errno;
}

std::span<const std::byte> FrameBuffer::next_frame() noexcept {
    const std::size_t bytes = layout_.frame_bytes();
    if (filled_ - taken_ < bytes) {
        return {};
    }
    const std::span<const std::byte> frame = std::span(bytes_).subspan(taken_, bytes);
    taken_ += bytes;
    return frame;
}

std::optional<std::int64_t> FrameBuffer::timestamp_of(std::span<const std::byte> frame) const noexcept {
    if (!timestamp_) {
        return std::nullopt;
    }
    return decode_whole(layout_.type(*timestamp_), layout_.value_bytes(frame, *timestamp_));
}

}  // namespace telegate::iio
