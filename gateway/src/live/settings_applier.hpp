#pragma once

#include "config/settings.hpp"
#include "config/settings_diff.hpp"
#include "core/bounded_queue.hpp"
#include "core/reactor.hpp"
#include "device/sampler.hpp"
#include "device/sampling_threads.hpp"
#include "durable/durable_log.hpp"
#include "encode/json_encoder.hpp"
#include "endpoints/publishers.hpp"
#include "endpoints/service_endpoints.hpp"
#include "events/alarms.hpp"
#include "events/events.hpp"
#include "line/history.hpp"
#include "log/log_level.hpp"
#include "plan/plan.hpp"
#include "publish/format_feeds.hpp"
#include "publish/heartbeats.hpp"
#include "uplinks/uplinks.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace telegate {

/// Changed settings as a plan, and the devices that differ, with new drivers where needed.
struct PlannedChange {
    Plan plan;  // its devices are moved to `devices`
    DeviceChange devices;
};

/// Plans a change without touching anything that runs. `changes` is diff(from, to). Throws SettingsError with every
/// problem.
[[nodiscard]] PlannedChange plan_change(const Settings& from, const Settings& to,
                                        const std::vector<SettingChange>& changes);

/// Applies a change of settings to the running parts. Steps that can fail come first and can be rolled back: plan and
/// drivers, addresses, the response of the sampling thread. The remaining steps cannot fail.
///
/// Threads: change(): any, one at a time.
/// Limits: waits up to answer_time_max for each of the two threads, and for the uplinks that end.
/// Failure: change() throws and has changed nothing: SettingsError for invalid settings, std::length_error if the
/// change needs a restart for more capacity, any other exception for external failures.
class SettingsApplier {
  public:
    /// Timeout for the sampling thread and the I/O thread.
    static constexpr std::chrono::milliseconds answer_time_max{1'000};
    /// How long subscribers of a removed endpoint may read pending messages.
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
        DurableLog* log;  // null: none
        Uplinks& uplinks;
        EventLog& events;
        Alarms& alarms;
        SampleText& sample_text;  // has the labels in force
        FormatFeeds& format_feeds;
        History& history;
        /// Called on the reactor's thread when the formats with endpoints have changed.
        std::function<void()> on_formats;
    };
    explicit SettingsApplier(Parts parts) noexcept : parts_(std::move(parts)) {}

    struct Wanted {
        const Settings& from;  // in force
        const Settings& to;
        const std::vector<SettingChange>& changes;  // diff(from, to)
        bool dry_run = false;                       // plans only; binds no address
        bool may_remove_data = true;                // false: a change that makes the log remove data is refused
    };
    /// Returns a description of steps that are still pending and will complete later; "": none.
    [[nodiscard]] std::string change(const Wanted& wanted);

  private:
    /// The bound endpoints; null: no changes.
    struct Endpoints {
        std::shared_ptr<Publishers::Prepared> publish;
        std::shared_ptr<ServiceEndpoints::Prepared> services;

        [[nodiscard]] bool empty() const noexcept { return publish == nullptr && services == nullptr; }
    };
    [[nodiscard]] Endpoints bind(const Wanted& wanted, const PlannedChange& planned);
    void bind_now(Endpoints& endpoints, const Wanted& wanted, const PlannedChange& planned);
    [[nodiscard]] bool change_labels(const SharedLabels& labels);
    void change_uplinks(const Wanted& wanted, const Plan& plan, bool has_other_labels);
    void change_devices(DeviceChange change);
    [[nodiscard]] static std::vector<std::string> roll_back_on_reactor(const Parts& parts, const Endpoints& endpoints);
    [[nodiscard]] std::string roll_back(const Endpoints& endpoints);
    [[nodiscard]] std::string publish(const Endpoints& endpoints);

    const Parts parts_;
};

}  // namespace telegate
