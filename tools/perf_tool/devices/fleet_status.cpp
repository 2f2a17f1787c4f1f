#include "fleet_status.hpp"

#include "fleet_settings.hpp"
#include "statistics.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>
#include <string_view>
#include <vector>

namespace telegate::perf {

namespace {

using Json = nlohmann::json;

/// Of each device that answers, in microseconds.
struct Lateness {
    std::vector<double> p50;
    std::vector<double> p99;
    std::vector<double> max;

    void add(const Json& lateness_s) {
        constexpr double us_per_second = 1e6;
        p50.push_back(lateness_s.at("p50").get<double>() * us_per_second);
        p99.push_back(lateness_s.at("p99").get<double>() * us_per_second);
        max.push_back(lateness_s.at("max").get<double>() * us_per_second);
    }
};

std::uint64_t count_in(const Json& json, const char* key) {
    return json.at(key).get<std::uint64_t>();
}

FleetStatus read(const Json& json) {
    FleetStatus status;
    Lateness late;
    for (const Json& device : json.at("sampler").at("devices")) {
        if (!device.at("name").get<std::string_view>().starts_with(healthy_name)) {
            continue;
        }
        late.add(device.at("lateness_s"));
        status.ticks_missed += count_in(device, "ticks_missed");
        status.reads_failed += count_in(device, "reads_failed");
    }
    status.devices = late.p50.size();
    if (status.devices == 0) {
        throw std::runtime_error("/status has no device that answers");
    }
    status.late_p50_us = spread_of(late.p50).median;
    status.late_p99_us = spread_of(late.p99).median;
    status.late_p99_worst_us = spread_of(late.p99).max;
    status.late_max_us = spread_of(late.max).max;
    for (const Json& dropped : json.at("books").at("total").at("dropped")) {
        status.samples_lost += dropped.get<std::uint64_t>();
    }
    status.messages_lost = count_in(json.at("transport"), "dropped");
    return status;
}

}  // namespace

FleetStatus read_fleet_status(const std::string& body) {
    try {
        return read(Json::parse(body));
    } catch (const Json::exception& error) {
        throw std::runtime_error(std::string("/status cannot be read: ") + error.what());
    }
}

}  // namespace telegate::perf
