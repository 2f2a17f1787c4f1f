#include "live_parts.hpp"

#include "plan_change.hpp"
#include "run_on.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace telegate {
namespace {

constexpr const char* late_io = "the io thread did not answer in time";

bool concerns(const std::vector<SettingChange>& changes, std::string_view section) {
    return std::any_of(changes.begin(), changes.end(),
                       [&](const SettingChange& change) { return change.section == section; });
}

}  // namespace

std::string LiveParts::change(const Wanted& wanted) {
    PlannedChange planned = plan_change(wanted.from, wanted.to, wanted.changes);
    if (wanted.dry_run) {
        return "";
    }
    std::shared_ptr<Publishers::Prepared> endpoints;
    if (concerns(wanted.changes, "publish")) {
        endpoints = bind(planned.publish);
    }
    try {
        change_devices(std::move(planned.devices));
    } catch (const std::exception& error) {
        const std::string lost = endpoints == nullptr ? "" : roll_back(endpoints);
        if (lost.empty()) {
            throw;
        }
        throw std::runtime_error(std::string(error.what()) + "; " + lost);
    }
    parts_.queue.resize(planned.queue_capacity);
    parts_.queue.set_policy(planned.queue_policy);
    if (wanted.from.log_level != wanted.to.log_level) {  // otherwise it may be another one for a while
        parts_.log_level.set(planned.log_level, std::nullopt, "settings");
    }
    return endpoints == nullptr ? "" : publish(endpoints);
}

std::shared_ptr<Publishers::Prepared> LiveParts::bind(const std::vector<FormatEndpoint>& endpoints) {
    std::shared_ptr<Publishers::Prepared> prepared;
    if (!run_on(
            parts_.reactor, [&] { prepared = parts_.publishers.prepare(endpoints); }, answer_time_max)) {
        throw std::runtime_error(late_io);
    }
    return prepared;
}

void LiveParts::change_devices(DeviceChange change) {
    if (change.empty()) {
        return;
    }
    const auto prepared = parts_.sampler.prepare(std::move(change));
    if (!parts_.sampling_thread.run_change(*prepared, answer_time_max)) {
        throw std::runtime_error("the sampling thread did not answer in time");
    }
}

/// Returns what could not be taken back.
std::string LiveParts::roll_back(const std::shared_ptr<Publishers::Prepared>& endpoints) {
    std::vector<std::string> lost;
    const auto call = [&publishers = parts_.publishers, endpoints, &lost] {
        lost = publishers.roll_back(*endpoints);
    };
    if (!run_on(parts_.reactor, call, answer_time_max)) {
        parts_.reactor.post([&publishers = parts_.publishers, endpoints] { publishers.roll_back(*endpoints); });
        return std::string(late_io) + ": new endpoints are closed when it does";
    }
    return lost.empty() ? "" : "no longer bound: " + lost.front();
}

std::string LiveParts::publish(const std::shared_ptr<Publishers::Prepared>& endpoints) {
    const auto call = [&publishers = parts_.publishers, &pump = parts_.pump, endpoints] {
        publishers.apply(*endpoints, leaving_grace);
        pump.publish_to(publishers.by_format());
    };
    if (run_on(parts_.reactor, call, answer_time_max)) {
        return "";
    }
    parts_.reactor.post(call);
    return std::string(late_io) + ": the endpoints follow when it does";
}

}  // namespace telegate
