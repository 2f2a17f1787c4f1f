#pragma once

#include "config/settings.hpp"
#include "config/settings_diff.hpp"
#include "core/bounded_queue.hpp"
#include "core/reactor.hpp"
#include "device/sampler.hpp"
#include "device/sampling_threads.hpp"
#include "endpoints/publishers.hpp"
#include "endpoints/service_endpoints.hpp"
#include "events/alarms.hpp"
#include "events/events.hpp"
#include "live/plan_change.hpp"
#include "log/log_level.hpp"
#include "publish/heartbeats.hpp"
#include "recording/recorders.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace telegate {

/// What a change of settings touches, while it runs. Everything that can fail comes first and can be taken back: plan
/// and drivers, addresses, the sampling thread's answer. The rest cannot fail.
///
/// Threads: change() any one at a time.
/// Limits:  waits up to answer_time_max for each of the two threads, and for the disks of recordings that end.
/// Failure: change() throws, and then nothing was changed: SettingsError for what is wrong with the settings,
///          std::length_error when a restart has to make room, any other exception for what failed outside.
class SettingsApplier {
  public:
    /// How long the sampling thread and the io thread may take to answer.
    static constexpr std::chrono::milliseconds answer_time_max{1'000};
    /// How long subscribers of an endpoint that goes may take to read what is pending.
    static constexpr std::chrono::milliseconds leaving_grace{1'000};

    struct Parts {
        Sampler& sampler;
        SamplingThreads& sampling_threads;
        BoundedQueue<TelemetrySample>& queue;
        Reactor& reactor;
        Publishers& publishers;
        ServiceEndpoints& services;
        Heartbeats& heartbeats;
        LogLevel& log_level;
        Recorders& recorders;
        EventLog& events;
        Alarms& alarms;
        /// Called on the reactor's thread when other formats have endpoints.
        std::function<void()> on_formats;
    };
    explicit SettingsApplier(Parts parts) noexcept : parts_(std::move(parts)) {}

    struct Wanted {
        const Settings& from;  // in force
        const Settings& to;
        const std::vector<SettingChange>& changes;  // diff(from, to)
        bool dry_run = false;                       // plans only: no address is tried
    };
    /// Returns what has not been done yet and will be: "" when there is nothing.
    [[nodiscard]] std::string change(const Wanted& wanted);

  private:
    /// What has been bound; null where nothing is to change.
    struct Endpoints {
        std::shared_ptr<Publishers::Prepared> publish;
        std::shared_ptr<ServiceEndpoints::Prepared> services;

        [[nodiscard]] bool empty() const noexcept { return publish == nullptr && services == nullptr; }
    };
    [[nodiscard]] Endpoints bind(const Wanted& wanted, const PlannedChange& planned);
    void bind_now(Endpoints& endpoints, const Wanted& wanted, const PlannedChange& planned);
    void change_devices(DeviceChange change);
    [[nodiscard]] static std::vector<std::string> take_back(const Parts& parts, const Endpoints& endpoints);
    [[nodiscard]] std::string roll_back(const Endpoints& endpoints);
    [[nodiscard]] std::string publish(const Endpoints& endpoints);

    const Parts parts_;
};

}  // namespace telegate
