#pragma once

#include "report.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <sstream>
#include <stdexcept>

/// Many devices of a gateway, their settings and their status.
namespace telegate::perf {

/// Devices that never block, and their subscribers.
struct Fleet {
    std::size_t devices = 200;
    std::size_t channels = 20;  // per device
    double rate = 10;           // readings per second of each device
    std::string align = "spread";
    std::size_t subscribers = 1;  // of all devices

    [[nodiscard]] std::size_t samples_per_reading() const noexcept { return devices * channels; }
    /// Returns the capacity for two readings of all devices, but not less than the default.
    [[nodiscard]] std::size_t queue_size() const noexcept {
        return std::max<std::size_t>(1'024, 2 * samples_per_reading());
    }
};

/// Settings of a device that hangs.
inline constexpr std::int64_t hung_timeout_ms = 500;
inline constexpr std::int64_t hung_interval_ms = 100;

// Prefixes of the names of devices.
inline constexpr std::string_view healthy_name = "healthy-";
inline constexpr std::string_view hung_name = "hung-";

/// Returns the text of a settings file with the fleet and `hung` devices whose peer, at this port of the loopback
/// interface, never responds. Their breakers stay closed, so that they hang all the time. All endpoints use free ports.
[[nodiscard]] inline std::string fleet_settings(const Fleet& fleet, std::size_t hung, std::uint16_t silent_port) {
    std::ostringstream text;
    text << "queue_size = " << fleet.queue_size() << "\n\n[rest]\nlisten = 127.0.0.1:0\n\n"
         << "[publish \"all\"]\nendpoint = tcp://127.0.0.1:0\nformat = json\n";
    for (std::size_t device = 1; device <= fleet.devices; ++device) {
        text << "\n[device \"" << healthy_name << device
             << "\"]\ndriver = simulated\ninterval_us = " << std::llround(1e6 / fleet.rate)
             << "\nalign = " << fleet.align << "\nwaveforms = noise\ncopies = " << fleet.channels
             << "\nseed = " << device << '\n';
    }
    for (std::size_t device = 1; device <= hung; ++device) {
        text << "\n[device \"" << hung_name << device
             << "\"]\ndriver = modbus\nendpoint = tcp://127.0.0.1:" << silent_port
             << "\ninterval_ms = " << hung_interval_ms << "\ntimeout_ms = " << hung_timeout_ms
             << "\nbreaker_failures = 0\n\n[channel \"" << hung_name << device << "/value\"]\naddress = 0\n";
    }
    return text.str();
}

/// Figures of /status, since the start of the gateway. Lateness is that of devices that respond.
struct FleetStatus {
    double late_p50_us = 0;           // median of the devices' medians
    double late_p99_us = 0;           // median of the devices' 99th percentiles
    double late_p99_worst_us = 0;     // the highest 99th percentile of a device
    double late_max_us = 0;           // of all readings
    std::size_t devices = 0;          // that respond
    std::uint64_t ticks_missed = 0;   // by these
    std::uint64_t reads_failed = 0;   // by these
    std::uint64_t samples_lost = 0;   // of all devices, from the ledger
    std::uint64_t messages_lost = 0;  // to subscribers
};

/// Throws nlohmann::json::exception if a field is missing.
[[nodiscard]] inline FleetStatus fleet_status_of(const nlohmann::json& json) {
    constexpr double us_per_second = 1e6;
    FleetStatus status;
    std::vector<double> p50;
    std::vector<double> p99;
    for (const nlohmann::json& device : json.at("sampler").at("devices")) {
        if (!device.at("name").get<std::string_view>().starts_with(healthy_name)) {
            continue;
        }
        const nlohmann::json& lateness_s = device.at("lateness_s");
        p50.push_back(lateness_s.at("p50").get<double>() * us_per_second);
        p99.push_back(lateness_s.at("p99").get<double>() * us_per_second);
        status.late_max_us = std::max(status.late_max_us, lateness_s.at("max").get<double>() * us_per_second);
        status.ticks_missed += device.at("ticks_missed").get<std::uint64_t>();
        status.reads_failed += device.at("reads_failed").get<std::uint64_t>();
    }
    status.devices = p50.size();
    if (status.devices == 0) {
        throw std::runtime_error("invalid /status: no device responds");
    }
    status.late_p50_us = spread_of(p50).median;
    status.late_p99_us = spread_of(p99).median;
    status.late_p99_worst_us = spread_of(p99).max;
    for (const nlohmann::json& dropped : json.at("ledger").at("total").at("dropped")) {
        status.samples_lost += dropped.get<std::uint64_t>();
    }
    status.messages_lost = json.at("transport").at("dropped").get<std::uint64_t>();
    return status;
}

/// Reads the body of GET /status. Throws std::runtime_error if a field is missing or no device responds.
[[nodiscard]] inline FleetStatus read_fleet_status(const std::string& body) {
    try {
        return fleet_status_of(nlohmann::json::parse(body));
    } catch (const nlohmann::json::exception& error) {
        throw std::runtime_error(std::string("invalid /status: ") + error.what());
    }
}

}  // namespace telegate::perf
