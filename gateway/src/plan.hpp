#pragma once

#include "config/load.hpp"
#include "core/bounded_queue.hpp"
#include "device/driver.hpp"
#include "device/sampler.hpp"
#include "device/thread_schedule.hpp"
#include "payload_format.hpp"
#include "rest_server.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace telegate {

struct PlannedDevice {
    DeviceOptions options;
    std::unique_ptr<Driver> driver;
};

/// The settings turned into the rooms' own types, drivers made. What is left for start is what can fail from outside:
/// addresses and threads.
struct Plan {
    std::vector<FormatEndpoint> publish;
    std::vector<PlannedDevice> devices;
    ThreadSchedule sampling_schedule;
    RestOptions rest;
    std::size_t queue_capacity = 0;
    OverflowPolicy queue_policy = OverflowPolicy::drop_oldest;
};

/// Throws SettingsError with every problem.
[[nodiscard]] Plan make_plan(const Settings& settings);

struct LoadedPlan {
    Settings settings;
    Plan plan;
};

/// Reads a settings file and plans it. Throws SettingsError with the problems of the text and of the plan together.
/// Both --check and start run it.
[[nodiscard]] LoadedPlan load_plan(const std::string& path);

}  // namespace telegate
