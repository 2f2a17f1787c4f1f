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

void add_driver_problem(const DeviceSettings& device, DeviceChannels channels, const OptionError& error,
                        std::vector<SettingsProblem>& problems) {
    const auto channel = std::find_if(channels.begin(), channels.end(), [&](const ChannelSettings* each) {
        return !error.channel().empty() && each->channel() == error.channel();
    });
    if (channel != channels.end()) {
        const ChannelSettings& section = **channel;
        SectionProblems("channel." + section.name, section.places, section.place, problems)
            .add(error.key(), error.problem());
    } else {
        const bool names_key = error.channel().empty() || find_setting("device", error.key(), device.driver) != nullptr;
        SectionProblems("device." + device.name, device.places, device.place, problems)
            .add(error.key(), names_key ? error.problem() : error.what());
    }
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
            throw OptionError(std::string(key), '"' + value_text(*row, &copy) + "\" " + std::string(why),
                              std::string(channel.channel()));
        }
    }
}

}  // namespace telegate
