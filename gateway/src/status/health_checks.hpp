#pragma once

#include "core/clock.hpp"
#include "core/monitor.hpp"
#include "device/sampler.hpp"
#include "device/sampling_threads.hpp"
#include "line/channel_watch.hpp"
#include "line/pump_watch.hpp"
#include "recording/recorder.hpp"
#include "status/health.hpp"

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

namespace telegate {

/// A thread that has not been heard from for so long is taken to be stuck. Far above what a busy machine makes of a
/// tick or a turn of the loop, and short beside the time that a watchdog allows.
inline constexpr std::chrono::seconds stuck_after{2};

/// Whether the sampling thread keeps its deadlines. One that waits for room in a queue with policy block is not stuck:
/// it goes on when the pump does.
[[nodiscard]] HealthCheck check_sampling(const SamplingThreads& thread, const Sampler& sampler, MonoTime now);
/// Whether the io thread answers and takes what is in the queue.
[[nodiscard]] HealthCheck check_pump(const PumpReport& report);
/// Warns of devices that fail.
[[nodiscard]] HealthCheck check_devices(const Sampler& sampler);
/// Warns of devices that their settings start and that somebody has stopped.
[[nodiscard]] HealthCheck check_stopped(const Sampler& sampler);
/// Warns of channels that stay bad while their device measures.
[[nodiscard]] HealthCheck check_channels(const BadChannels& bad);

/// Checks that every recording is being written.
[[nodiscard]] HealthCheck check_recordings(const std::vector<RecorderStatus>& recorders);

/// Warns of [channel] sections that no channel has claimed; `topics` are theirs.
[[nodiscard]] HealthCheck check_channel_settings(const std::vector<std::string>& topics);

/// Losses that are older do not make the gateway unready.
inline constexpr std::chrono::nanoseconds loss_remembered_for = std::chrono::seconds(5);

/// Checks that no device has lost a sample at the queue within loss_remembered_for before `now`.
[[nodiscard]] HealthCheck check_queue(const Sampler& sampler, MonoTime now);

/// Remembers the last time that an endpoint could not accept a connection or a subscription.
///
/// Threads: any.
/// Limits:  one failure, the last.
/// Failure: none.
class EndpointTrouble {
  public:
    /// A listener that is out of descriptors tries again ten times a second, and a closed subscriber reconnects about
    /// as often, so a few seconds without a failure mean that the endpoint works.
    static constexpr std::chrono::seconds remembered_for{5};

    explicit EndpointTrouble(const Clock& clock) : clock_(clock) {}

    void note(const MonitorEvent& event);
    [[nodiscard]] HealthCheck check() const;

  private:
    const Clock& clock_;
    mutable std::mutex mutex_;  // guards what follows
    MonoTime last_ = MonoTime::min();
    std::string text_;
};

}  // namespace telegate
