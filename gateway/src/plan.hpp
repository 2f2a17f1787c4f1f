#pragma once

#include "config/load.hpp"
#include "core/bounded_queue.hpp"
#include "core/endpoint.hpp"
#include "device/driver.hpp"
#include "device/sampler.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace telegate {

struct PlannedDevice {
    DeviceOptions options;
    std::unique_ptr<Driver> driver;
};

/// The settings turned into the rooms' own types, drivers made. What is left for start is what can fail from outside:
/// addresses and threads.
struct Plan {
    std::vector<Endpoint> publish;
    std::vector<PlannedDevice> devices;
    std::size_t queue_capacity = 0;
    OverflowPolicy queue_policy = OverflowPolicy::drop_oldest;
};

/// Throws SettingsError with every problem. Both --check and start run it.
[[nodiscard]] Plan make_plan(const Settings& settings);

}  // namespace telegate
