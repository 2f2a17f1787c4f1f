#include "device/driver_row.hpp"

#include "clock/clock_driver.hpp"
#include "config/hidden_secrets.hpp"
#include "config/settings_table.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "device/common_settings.hpp"
#include "device/gateway_driver.hpp"
#include "device/sample_batch.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace telegate {

extern const DriverRow exec_driver_row;
extern const DriverRow host_driver_row;
extern const DriverRow http_driver_row;
extern const DriverRow iio_driver_row;
extern const DriverRow modbus_driver_row;
extern const DriverRow replay_driver_row;
extern const DriverRow serial_driver_row;
extern const DriverRow simulated_driver_row;
extern const DriverRow udp_driver_row;

namespace {

// The drivers without settings of their own.
constexpr DriverRow clock_driver_row{.name = "clock",
                                     .make = [](const DeviceSettings& /*device*/, DeviceChannels /*channels*/) {
                                         return make_clock_driver();
                                     }};
constexpr DriverRow gateway_driver_row{
    .name = "gateway",
    .make = [](const DeviceSettings& /*device*/, DeviceChannels /*channels*/) -> std::unique_ptr<Driver> {
        return make_gateway_driver();
    }};

constexpr std::array drivers{
    &clock_driver_row,  &exec_driver_row,      &gateway_driver_row, &host_driver_row,
    &http_driver_row,   &iio_driver_row,       &modbus_driver_row,  &replay_driver_row,
    &serial_driver_row, &simulated_driver_row, &udp_driver_row,
};

}  // namespace

std::span<const TypeRows> driver_rows() {
    static const auto rows = [] {
        std::array<TypeRows, drivers.size() + 1> all{{{.type = "", .rows = common_rows()}}};
        std::transform(drivers.begin(), drivers.end(), all.begin() + 1, [](const DriverRow* each) {
            return TypeRows{each->name, each->settings};
        });
        return all;
    }();
    return rows;
}

const DriverRow& find_driver(std::string_view name) {
    const auto* const found =
        std::find_if(drivers.begin(), drivers.end(), [&](const DriverRow* each) { return each->name == name; });
    if (found == drivers.end()) {
        throw std::invalid_argument("unknown driver \"" + std::string(name) + "\"");
    }
    return **found;
}

std::optional<DeviceAddress> address_of(const DeviceSettings& device) {
    const auto address = device.driver.empty() ? nullptr : find_driver(device.driver).address;
    return address == nullptr ? std::nullopt : address(device);
}

std::string played_log_of(const DeviceSettings& device) {
    const auto played_log = device.driver.empty() ? nullptr : find_driver(device.driver).played_log;
    return played_log == nullptr ? "" : played_log(device);
}

std::vector<std::string> channels_at_open(const DeviceSettings& device, DeviceChannels channels) {
    const SystemClock clock;
    ChannelTable table;
    SampleBatch batch(clock, table, {static_cast<DeviceId>(0), device.name}, [](auto /*samples*/) {});
    find_driver(device.driver).make(device, channels)->open(batch);
    std::vector<std::string> names;
    names.reserve(table.size());
    for (std::size_t index = 0; index < table.size(); ++index) {
        names.push_back(table.at(static_cast<ChannelId>(index)).channel);
    }
    return names;
}

void add_driver_problem(const DeviceSettings& device, DeviceChannels channels, const OptionError& error,
                        std::vector<SettingsProblem>& problems) {
    const auto channel = std::find_if(channels.begin(), channels.end(), [&](const ChannelSettings* each) {
        return !error.channel().empty() && each->channel() == error.channel();
    });
    if (channel != channels.end()) {
        SectionProblems("channel", **channel, problems).add(error.key(), error.problem());
    } else {
        const SettingRow* const row = find_setting("device", error.key(), device.driver);
        std::string what = error.channel().empty() || row != nullptr ? error.problem() : error.what();
        if (row != nullptr) {
            DeviceSettings copy = device;  // the slots of the settings table need mutable settings
            what = shown_message(*row, &copy, std::move(what));
        }
        SectionProblems("device", device, problems).add(error.key(), std::move(what));
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
        if (!is_unset(*row, &copy)) {  // a JSON null is present but has no value
            throw OptionError(std::string(key), '"' + value_text(*row, &copy) + "\" " + std::string(why),
                              std::string(channel.channel()));
        }
    }
}

}  // namespace telegate
