#pragma once

#include "config/load.hpp"
#include "config/settings_sources.hpp"
#include "core/bounded_queue.hpp"
#include "device/driver.hpp"
#include "device/sampler.hpp"
#include "device/thread_schedule.hpp"
#include "durable/durable_log.hpp"
#include "encode/labels.hpp"
#include "endpoints/format_endpoint.hpp"
#include "endpoints/service_endpoints.hpp"
#include "http/rest_options.hpp"
#include "log/log.hpp"
#include "uplinks/uplinks.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

struct PlannedDevice {
    DeviceOptions options;
    std::unique_ptr<Driver> driver;
    ProcessingPlan processing{};
};

/// The settings converted to the types of the modules, with the drivers created. After this, a start can fail only for
/// external reasons: addresses and threads.
struct Plan {
    std::vector<FormatEndpoint> publish;
    std::vector<ServiceEndpoint> services;
    std::vector<PlannedDevice> devices;
    DurableLogOptions log;
    std::vector<UplinkOptions> uplinks;
    ThreadSchedule sampling_schedule;
    RestOptions rest;
    SharedLabels labels;
    std::size_t io_threads = 1;
    std::size_t queue_capacity = 0;  // 0: follows the needs of the devices
    OverflowPolicy queue_policy = OverflowPolicy::drop_oldest;
};

[[nodiscard]] LogOptions log_options(const Settings& settings);

/// Creates a plan. Throws SettingsError with all problems. A device for which `keeps_driver` returns true gets no
/// driver. `secret`: allowed owners of secret key files.
[[nodiscard]] Plan make_plan(const Settings& settings,
                             const std::function<bool(const DeviceSettings&)>& keeps_driver = {},
                             SecretFile secret = SecretFile::own);

/// Returns how a device is sampled with these settings.
[[nodiscard]] DeviceOptions device_options(const Settings& settings, const DeviceSettings& device);

/// Returns the [channel] sections of a device, in their order.
[[nodiscard]] std::vector<const ChannelSettings*> channels_of(const Settings& settings, std::string_view device);

struct LoadedPlan {
    Settings settings;
    Plan plan;
    std::vector<std::string> warnings;  // from load_settings(), queue_warnings() and setting_warnings()
};

/// Reads settings and plans them. Throws SettingsError with the problems of the parser and of the plan together. Used
/// by --check and by start.
[[nodiscard]] LoadedPlan load_plan(const SettingsSources& sources, SecretFile secret = SecretFile::own);

}  // namespace telegate
