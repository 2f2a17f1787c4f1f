#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace telegate::perf {

/// Many devices that never make anybody wait, and their subscribers.
struct Fleet {
    std::size_t devices = 200;
    std::size_t channels = 20;  // of each
    double rate = 10;           // readings of each in a second
    std::string align = "spread";
    std::size_t subscribers = 1;  // that read all

    [[nodiscard]] std::size_t samples_per_reading() const noexcept { return devices * channels; }
    [[nodiscard]] std::int64_t interval_us() const noexcept;
    /// Room for two readings of all devices, and no less than what the gateway has without being told.
    [[nodiscard]] std::size_t queue_size() const noexcept;
};

/// How the names of those begin that answer, and of those that do not.
inline constexpr std::string_view healthy_name = "healthy-";
inline constexpr std::string_view hung_name = "hung-";

/// Of a device that is not answered.
inline constexpr std::int64_t hung_timeout_ms = 500;
inline constexpr std::int64_t hung_interval_ms = 100;

/// The text of a settings file: the fleet, and so many devices more whose peer at that port of the loopback never
/// answers. Their breakers stay closed, so that they hang all the time. All else is on free ports of the loopback.
/// Threads: any. Limits: none. Failure: none; the gateway says when it is too much.
[[nodiscard]] std::string fleet_settings(const Fleet& fleet, std::size_t hung, std::uint16_t silent_port);

}  // namespace telegate::perf
