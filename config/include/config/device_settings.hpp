#pragma once

#include "config/processing_settings.hpp"
#include "config/settings_place.hpp"

#include <any>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

struct DeviceSettings {
    std::string name;
    SettingsPlace place;
    SettingsPlaces places;
    std::string driver;
    std::int64_t interval_ms = 0;  // 0: use interval_us
    std::int64_t interval_us = 0;  // 0: use interval_ms; both 0: use sampling_interval_ms
    std::string align = "start";
    std::int64_t offset_ms = 0;
    std::optional<std::int64_t> errors_before_safe;  // not set: the driver's default
    std::int64_t breaker_failures = 3;               // 0: never
    std::int64_t breaker_wait_ms = 1'000;
    std::int64_t breaker_wait_max_ms = 60'000;
    bool autostart = true;
    std::string record;        // "": not recorded
    std::any driver_settings;  // see driver_rows.hpp
};

/// The settings of one channel of a device.
struct ChannelSettings {
    std::string name;  // DEVICE/CHANNEL, as its topic
    SettingsPlace place;
    SettingsPlaces places;
    std::string unit;  // "": the driver's unit
    std::any driver_settings;
    ProcessingSettings processing;

    [[nodiscard]] std::string_view device() const noexcept { return std::string_view(name).substr(0, name.find('/')); }
    [[nodiscard]] std::string_view channel() const noexcept {
        const std::size_t slash = name.find('/');
        return slash == std::string::npos ? std::string_view() : std::string_view(name).substr(slash + 1);
    }
};

}  // namespace telegate
