#pragma once

#include "config/settings.hpp"
#include "config/settings_diff.hpp"
#include "core/bounded_queue.hpp"
#include "device/sampler.hpp"
#include "endpoints/format_endpoint.hpp"
#include "endpoints/service_endpoints.hpp"
#include "recording/recorder.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace telegate {

/// Other settings turned into the rooms' own types: of the devices only what is different, with drivers made for those
/// that need another one.
struct PlannedChange {
    std::vector<FormatEndpoint> publish;
    std::vector<ServiceEndpoint> services;
    DeviceChange devices;
    std::vector<RecorderOptions> recorders;  // all of them
    std::size_t queue_capacity = 0;
    OverflowPolicy queue_policy = OverflowPolicy::drop_oldest;
    std::string log_level;
};

/// Touches nothing that runs. `changes` is diff(from, to). Throws SettingsError with every problem.
[[nodiscard]] PlannedChange plan_change(const Settings& from, const Settings& to,
                                        const std::vector<SettingChange>& changes);

}  // namespace telegate
