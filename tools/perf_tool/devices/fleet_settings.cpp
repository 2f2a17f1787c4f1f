#include "fleet_settings.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace telegate::perf {

std::int64_t Fleet::interval_us() const noexcept {
    constexpr double us_per_second = 1e6;
    return std::llround(us_per_second / rate);
}

std::size_t Fleet::queue_size() const noexcept {
    constexpr std::size_t usual = 1'024;
    return std::max(usual, 2 * samples_per_reading());
}

std::string fleet_settings(const Fleet& fleet, std::size_t hung, std::uint16_t silent_port) {
    std::ostringstream text;
    text << "queue_size = " << fleet.queue_size() << "\n\n[rest]\nlisten = 127.0.0.1:0\n\n"
         << "[publish \"all\"]\nendpoint = tcp://127.0.0.1:0\nformat = json\n";
    for (std::size_t device = 1; device <= fleet.devices; ++device) {
        text << "\n[device \"" << healthy_name << device
             << "\"]\ndriver = simulated\ninterval_us = " << fleet.interval_us() << "\nalign = " << fleet.align
             << "\nwaveforms = noise\ncopies = " << fleet.channels << "\nseed = " << device << '\n';
    }
    for (std::size_t device = 1; device <= hung; ++device) {
        text << "\n[device \"" << hung_name << device
             << "\"]\ndriver = modbus\nendpoint = tcp://127.0.0.1:" << silent_port
             << "\ninterval_ms = " << hung_interval_ms << "\ntimeout_ms = " << hung_timeout_ms
             << "\nbreaker_failures = 0\n\n[channel \"" << hung_name << device << "/value\"]\naddress = 0\n";
    }
    return text.str();
}

}  // namespace telegate::perf
