#include "plan/drivers.hpp"

#include "base/section_problems.hpp"
#include "config/settings_table.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace telegate {
namespace {

struct DriverKind {
    std::string_view name;  // as in the settings table
    std::unique_ptr<Driver> (*make)(const DeviceSettings& device, DeviceChannels channels);
};

constexpr std::array kinds{
    DriverKind{"clock", make_clock},         DriverKind{"exec", make_exec},     DriverKind{"gateway", make_gateway},
    DriverKind{"host", make_host},           DriverKind{"http", make_http},     DriverKind{"iio", make_iio},
    DriverKind{"modbus", make_modbus},       DriverKind{"replay", make_replay}, DriverKind{"serial", make_serial},
    DriverKind{"simulated", make_simulated}, DriverKind{"udp", make_udp},
};

}  // namespace

std::unique_ptr<Driver> make_driver(const DeviceSettings& device, DeviceChannels channels) {
    const auto* const kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const DriverKind& each) { return each.name == device.driver; });
    if (kind == kinds.end()) {
        throw std::invalid_argument("there is no driver \"" + device.driver + "\"");
    }
    return kind->make(device, channels);
}

void add_driver_problem(const DeviceSettings& device, DeviceChannels channels, std::string_view words,
                        std::vector<SettingsProblem>& problems) {
    const auto cut = [&](std::string_view mark) {
        const std::size_t end = words.find(mark);
        const std::string_view head = words.substr(0, end);
        words.remove_prefix(end == std::string_view::npos ? words.size() : end + mark.size());
        return head;
    };
    const std::string_view all = words;
    constexpr std::string_view of_channel = "channel \"";
    if (words.starts_with(of_channel)) {
        words.remove_prefix(of_channel.size());
        const std::string_view name = cut("\": ");
        const std::string_view key = cut(": ");
        for (const ChannelSettings* channel : channels) {
            if (channel->channel() == name && find_setting("channel", key, device.driver) != nullptr) {
                SectionProblems("channel." + channel->name, channel->places, channel->place, problems)
                    .add(key, std::string(words));
                return;
            }
        }
    } else if (const std::string_view key = cut(": "); find_setting("device", key, device.driver) != nullptr) {
        SectionProblems("device." + device.name, device.places, device.place, problems).add(key, std::string(words));
        return;
    }
    problems.push_back({device.place.file, device.place.line, "device \"" + device.name + "\"", std::string(all),
                        "device." + device.name});
}

void refuse_given(const ChannelSettings& channel, std::string_view driver, std::initializer_list<std::string_view> keys,
                  std::string_view why) {
    for (const std::string_view key : keys) {
        const SettingRow* const row = channel.places.contains(key) ? find_setting("channel", key, driver) : nullptr;
        if (row == nullptr) {
            continue;
        }
        ChannelSettings copy = channel;
        if (!is_unset(*row, &copy)) {  // a null in JSON is given, and says nothing
            throw std::invalid_argument("channel \"" + std::string(channel.channel()) + "\": " + std::string(key) +
                                        ": \"" + value_text(*row, &copy) + "\" " + std::string(why));
        }
    }
}

}  // namespace telegate
