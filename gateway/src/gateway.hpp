#pragma once

#include "core/bounded_queue.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "core/ledger.hpp"
#include "core/reactor.hpp"
#include "core/waker.hpp"
#include "device/sampler.hpp"
#include "device/sampling_thread.hpp"
#include "log.hpp"
#include "peer_log.hpp"
#include "plan.hpp"
#include "publishers.hpp"
#include "pump.hpp"
#include "rest_server.hpp"
#include "status.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace telegate {

/// The whole gateway: makes every part, joins them into the line, starts and stops them in order.
///
/// Threads: constructor, start(), begin_stop(), finish() the main thread; snapshot(), command() and health() any while
/// running. Limits:  those of its parts. Failure: the constructor throws std::system_error when an address cannot be
/// had; start() when a thread cannot.
class Gateway {
  public:
    /// How long subscribers may take to read what is pending when the gateway stops.
    static constexpr std::chrono::milliseconds stop_grace_max{2'000};
    /// How long a REST request waits for the thread that knows the answer.
    static constexpr std::chrono::milliseconds answer_time_max{1'000};

    Gateway(const Settings& settings, Plan plan, Log& log);
    ~Gateway();
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;

    void start();
    /// No new samples, then the queue is published, then subscribers may read until stop_grace_max from now. Returns
    /// when the sampling thread has ended.
    void begin_stop();
    /// Readable when what begin_stop() began is done.
    [[nodiscard]] int stopped_descriptor() const noexcept { return stopped_.descriptor(); }
    /// Ends everything now, also what begin_stop() has not finished, and logs the final books. What is still queued
    /// counts as dropped{shutdown}.
    void finish();

    /// nullopt: the io thread did not answer in time.
    [[nodiscard]] std::optional<StatusSnapshot> snapshot();
    [[nodiscard]] std::optional<CommandResult> command(std::string_view device, DeviceCommand command);
    /// Threads: any.
    [[nodiscard]] Health health() const;

    /// As bound, in the order of the settings.
    [[nodiscard]] std::vector<Endpoint> endpoints() const;
    [[nodiscard]] const std::string& rest_address() const noexcept { return rest_.address(); }
    [[nodiscard]] Pump& pump() noexcept { return pump_; }
    [[nodiscard]] Reactor& reactor() noexcept { return reactor_; }
    [[nodiscard]] BoundedQueue<TelemetrySample>& queue() noexcept { return queue_; }

  private:
    void note(const MonitorEvent& event);
    void add_devices(std::vector<PlannedDevice> devices);
    [[nodiscard]] RestHandlers rest_handlers();
    [[nodiscard]] StatusSnapshot take_snapshot() const;
    void take_books(StatusSnapshot& snapshot) const;
    [[nodiscard]] std::string rest_url() const;
    void log_start() const;
    void log_final_books() const;

    Log& log_;
    PeerLog peer_log_;
    const SystemClock clock_;
    const std::int64_t epoch_ms_;
    const MonoTime started_at_;
    MonoTime stop_until_{};  // when the grace for subscribers ends
    std::atomic<GatewayState> state_{GatewayState::starting};
    ChannelTable channels_;
    Ledger ledger_;
    BoundedQueue<TelemetrySample> queue_;
    Waker waker_;
    Waker stopped_;
    Reactor reactor_;
    Publishers publishers_;
    Pump pump_;
    Sampler sampler_;
    SamplingThread sampling_thread_;
    RestServer rest_;
    std::thread io_thread_;
};

}  // namespace telegate
