#pragma once

#include "app/consumers.hpp"
#include "app/system_limits.hpp"
#include "base/call_on_reactor.hpp"
#include "base/worker.hpp"
#include "core/bounded_queue.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "core/ledger.hpp"
#include "core/reactor.hpp"
#include "core/waker.hpp"
#include "device/clock_watch.hpp"
#include "device/sampler.hpp"
#include "device/sampling_threads.hpp"
#include "durable/log_history.hpp"
#include "encode/json_encoder.hpp"
#include "endpoints/last_values.hpp"
#include "endpoints/peer_log.hpp"
#include "endpoints/publishers.hpp"
#include "events/alarm_file.hpp"
#include "events/alarms.hpp"
#include "events/event_keeper.hpp"
#include "events/events.hpp"
#include "line/channel_watch.hpp"
#include "line/pump.hpp"
#include "line/pump_watch.hpp"
#include "live/live_settings.hpp"
#include "live/settings_applier.hpp"
#include "log/log.hpp"
#include "log/log_level.hpp"
#include "plan/plan.hpp"
#include "publish/heartbeats.hpp"
#include "publish/slow_gaps.hpp"
#include "rest/rest_server.hpp"
#include "rest/rest_traffic.hpp"
#include "services/services.hpp"
#include "state/state_file.hpp"
#include "status/health_checks.hpp"
#include "status/status.hpp"
#include "status/status_parts.hpp"
#include "status/unclaimed_sections.hpp"
#include "uplinks/uplinks.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace telegate {
namespace test {
struct GatewayFixture;
}  // namespace test

/// The whole gateway: creates all parts, connects them to the data path, and starts and stops them in order.
///
/// Threads: constructor, start() and finish(): the main thread. begin_stop(): any. snapshot(), command(), health(),
/// close_subscriber() and live_settings(): any while running.
/// Limits: those of its parts.
/// Failure: the constructor throws std::system_error if an address cannot be bound, and throws like StateFile's;
/// start() throws if a thread cannot be created.
class Gateway {
  public:
    /// How long subscribers may read pending messages when the gateway stops.
    static constexpr std::chrono::milliseconds stop_grace_max{2'000};
    /// Timeout of a REST request that waits for another thread.
    static constexpr std::chrono::milliseconds answer_time_max{1'000};
    /// Timeout of health() for the I/O thread, which responds within one event-loop iteration.
    static constexpr std::chrono::milliseconds response_time_max{100};
    /// Device names since the start, several times the maximum number of devices in the settings: each name has a
    /// ledger.
    static constexpr std::size_t device_names_max = 1'024;

    /// How often the ledger is saved to the state file, for use after a power failure. A large file is written less
    /// often, because flash memory wears out.
    static constexpr std::chrono::seconds state_interval{60};
    static constexpr std::chrono::seconds state_interval_large{600};

    Gateway(const Settings& settings, Plan plan, Log& log, ReloadSource source = {});
    ~Gateway();
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;

    void start();
    /// Stops sampling, publishes the queue, and lets subscribers read until stop_grace_max from now. Returns when the
    /// sampling thread has ended.
    void begin_stop();
    /// Readable when the stop that begin_stop() started has completed.
    [[nodiscard]] int stopped_descriptor() const noexcept { return stopped_.descriptor(); }
    /// Stops everything now, even if begin_stop() has not completed, and logs the final ledger. Samples that are still
    /// queued are counted as dropped{shutdown}.
    void finish();

    /// nullopt: the I/O thread did not respond in time.
    [[nodiscard]] std::optional<StatusSnapshot> snapshot();
    [[nodiscard]] std::optional<CommandResult> command(std::string_view device, DeviceCommand command);
    /// Closes the connection of a subscriber. Returns false if it does not exist. nullopt: the I/O thread did not
    /// respond in time.
    [[nodiscard]] std::optional<bool> close_subscriber(PayloadFormat format, std::uint64_t id);
    /// Checks all parts; waits at most response_time_max for the I/O thread. Threads: any, even while stopping.
    [[nodiscard]] Health health();

    [[nodiscard]] LiveSettings& live_settings() noexcept { return live_settings_; }

    /// Returns the bound endpoints in the order of the settings. Threads: the main thread before start(), then the
    /// reactor's.
    [[nodiscard]] std::vector<Endpoint> endpoints() const;
    [[nodiscard]] const std::string& rest_address() const noexcept { return rest_.address(); }
    /// Returns all URLs: "http://127.0.0.1:8080", "https://..." and "unix:PATH".
    [[nodiscard]] std::vector<std::string> rest_urls() const { return rest_.urls(); }
    /// Returns the bound endpoints of the services. Threads: any.
    [[nodiscard]] std::vector<std::string> service_urls() const { return services_.endpoints().urls(); }

  private:
    friend struct test::GatewayFixture;  // pauses the pump, takes samples from the queue and blocks the I/O thread

    void stop_sampling();
    void record(PayloadFormat format, const MonitorEvent& event);
    [[nodiscard]] Publishers::Hooks publisher_hooks();
    [[nodiscard]] std::unique_ptr<DurableLog> make_durable_log(DurableLogOptions options);
    [[nodiscard]] DurableLog::Parts log_parts();
    [[nodiscard]] std::unique_ptr<LogHistory> make_log_history();
    void feed_consumers();
    [[nodiscard]] bool is_stuck(DeviceId device) const;
    void add_transport(StatusSnapshot& snapshot) const;
    void add_devices(std::vector<PlannedDevice> devices);
    [[nodiscard]] RestHandlers rest_handlers();
    [[nodiscard]] ReloadSource with_credentials(ReloadSource source);
    CredentialsRead renew_now(const std::vector<NamedCurve>& publish, const std::vector<NamedCurve>& services);
    CredentialsRead renew(const std::vector<NamedCurve>& publish, const std::vector<NamedCurve>& services);
    /// Runs `question` on the I/O thread and returns its result. nullopt: the I/O thread did not respond in time.
    template <class Answer>
    [[nodiscard]] std::optional<Answer> query_io(const std::function<Answer()>& question) {
        std::optional<Answer> answer;
        return call_on_reactor(
                   reactor_, [&] { answer = question(); }, answer_time_max)
                   ? std::move(answer)
                   : std::nullopt;
    }
    void catch_up();
    [[nodiscard]] std::vector<ShownDevice> shown_devices();
    [[nodiscard]] std::optional<ShownDevice> shown_device(std::string_view name);
    [[nodiscard]] std::optional<std::vector<SubscriberStatus>> subscribers();
    [[nodiscard]] std::optional<DurableLogStatus> log_status() const;
    [[nodiscard]] StatusSnapshot take_snapshot() const;
    [[nodiscard]] std::vector<SubscriberStatus> subscriber_statuses() const;
    void add_counts(StatusSnapshot& snapshot) const;
    void add_channels(StatusSnapshot& snapshot) const;
    [[nodiscard]] UnclaimedSections::Parts unclaimed_parts();
    [[nodiscard]] std::string change_settings(const SettingsApplier::Wanted& wanted);
    [[nodiscard]] std::string rest_url() const;
    [[nodiscard]] ServicesParts services_parts();
    [[nodiscard]] EpochLedger epoch_ledger() const;
    [[nodiscard]] MonoTime write_state();
    void end_epoch();
    void observe_devices();
    void record_start();
    void log_start() const;
    void log_final_ledger() const;

    Log& log_;
    PeerLog peer_log_;
    const SystemClock clock_;
    const WatchedClock sample_clock_;
    StateFile state_file_;
    const std::int64_t epoch_ms_;
    const MonoTime started_at_;
    EventLog events_;
    Alarms alarms_;
    AlarmFile alarm_file_;
    EventKeeper event_keeper_;
    const DescriptorShares descriptors_;
    MonoTime stop_until_{};  // end of the grace period for subscribers
    std::atomic<GatewayState> state_{GatewayState::starting};
    ChannelTable channels_;
    Ledger ledger_;
    BoundedQueue<TelemetrySample> queue_;
    QueueWaker waker_;
    Waker stopped_;
    Reactor reactor_;
    LogLevel log_level_;
    SampleText sample_text_;
    RestTraffic traffic_;
    SlowGaps slow_gaps_;
    Publishers publishers_;
    Uplinks uplinks_;  // before the log, whose thread uses them
    Consumers consumers_;
    const std::unique_ptr<LogHistory> log_history_;  // null: there is no log
    Pump pump_;
    Services services_;
    LastValues last_values_;
    Heartbeats heartbeats_;
    PumpWatch pump_watch_;
    EndpointTrouble endpoint_trouble_;
    Sampler sampler_;
    ChannelWatch channel_watch_;
    SamplingThreads sampling_threads_;
    UnclaimedSections unclaimed_sections_;
    SettingsApplier settings_applier_;
    LiveSettings live_settings_;
    Worker state_worker_;
    RestServer rest_;
    std::thread io_thread_;
};

}  // namespace telegate
