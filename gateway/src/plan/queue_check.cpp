#include "config/section_problems.hpp"
#include "device/driver_row.hpp"
#include "device/queue_need.hpp"
#include "plan/checks.hpp"

#include <algorithm>
#include <string>

namespace telegate {
namespace {

/// Returns the number of channels as far as the settings know it.
std::size_t known_channels(const Settings& settings, const PlannedDevice& planned) {
    const std::vector<const ChannelSettings*> sections = channels_of(settings, planned.options.name);
    const auto device = std::find_if(settings.devices.begin(), settings.devices.end(),
                                     [&](const DeviceSettings& each) { return each.name == planned.options.name; });
    const bool is_known = device != settings.devices.end() && planned.driver->later_channels().has_value();
    return is_known ? std::max(sections.size(), channels_at_open(*device, sections).size()) : sections.size();
}

}  // namespace

std::vector<SettingsProblem> queue_warnings(const Settings& settings, const Plan& plan) {
    std::vector<SettingsProblem> warnings;
    QueueNeed need;
    std::size_t own_threads = 0;
    for (const PlannedDevice& planned : plan.devices) {
        if (plan.queue_capacity > 0 && planned.driver != nullptr && !planned.driver->traits().waits_for_room) {
            need += queue_need(planned.driver->traits(), planned.options.interval, known_channels(settings, planned));
        }
        own_threads += planned.driver != nullptr && planned.driver->traits().own_thread ? 1U : 0U;
    }
    const bool is_shared = own_threads + (own_threads < plan.devices.size() ? 1U : 0U) > 1;
    const std::size_t certain = is_shared ? plan.queue_capacity / 2 : plan.queue_capacity;
    if (plan.queue_capacity > 0 && need.reading > certain) {
        SectionProblems("gateway", settings.places_of("gateway"), {}, warnings)
            .add("queue_size", std::to_string(plan.queue_capacity) + " is too small for one reading of each device, " +
                                   std::to_string(need.reading) + " samples" +
                                   (is_shared ? " in half of the queue" : "") +
                                   ", so samples may be lost; use auto, or " +
                                   std::to_string(BoundedQueue<TelemetrySample>::capacity_for(need.items)));
    }
    return warnings;
}

}  // namespace telegate
