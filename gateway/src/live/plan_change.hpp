#pragma once

#include "config/settings.hpp"
#include "config/settings_diff.hpp"
#include "core/bounded_queue.hpp"
#include "device/sampler.hpp"
#include "durable/durable_log.hpp"
#include "endpoints/format_endpoint.hpp"
#include "endpoints/service_endpoints.hpp"
#include "uplinks/uplinks.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace telegate {

/// Changed settings, converted to the types of the modules. Contains only devices that differ, with new drivers where
/// needed.
struct PlannedChange {
    std::vector<FormatEndpoint> publish;
    std::vector<ServiceEndpoint> services;
    DeviceChange devices;
    std::vector<DurableLogOptions> recorders;  // all of them
    DurableLogOptions log;
    std::vector<UplinkOptions> uplinks;  // all of them
    std::size_t queue_capacity = 0;
    OverflowPolicy queue_policy = OverflowPolicy::drop_oldest;
    std::string log_level;
};

/// Plans a change without touching anything that runs. `changes` is diff(from, to). Throws SettingsError with every
/// problem.
[[nodiscard]] PlannedChange plan_change(const Settings& from, const Settings& to,
                                        const std::vector<SettingChange>& changes);

}  // namespace telegate
