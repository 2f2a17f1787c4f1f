#pragma once

#include "config/payload_format.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "core/monitor.hpp"
#include "device/sampler.hpp"
#include "device/sampling_threads.hpp"
#include "durable/durable_log.hpp"
#include "line/channel_watch.hpp"
#include "line/pump_watch.hpp"
#include "status/health.hpp"
#include "uplinks/uplinks.hpp"

#include <array>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

namespace telegate {

/// A thread that has not responded for this long is considered stuck. The value is far above the delays of a busy
/// machine, and short compared with the timeout of a watchdog.
inline constexpr std::chrono::seconds stuck_after{2};

/// Checks that the sampling thread meets its deadlines. A thread that waits for space in a queue with policy block is
/// not stuck: it continues when the pump does.
[[nodiscard]] HealthCheck check_sampling(const SamplingThreads& thread, const Sampler& sampler, MonoTime now);
/// Checks that the I/O thread responds and drains the queue.
[[nodiscard]] HealthCheck check_pump(const PumpReport& report);
/// Warns of failing devices.
[[nodiscard]] HealthCheck check_devices(const Sampler& sampler);
/// Warns of stopped devices that the settings start automatically.
[[nodiscard]] HealthCheck check_stopped(const Sampler& sampler);
/// Warns of channels that stay bad while their device is measuring.
[[nodiscard]] HealthCheck check_channels(const BadChannels& bad);

/// Warns of a device that has more channels than its share of the table, and fails if the table is full.
[[nodiscard]] HealthCheck check_channel_table(const ChannelTable& channels);

/// Checks that no uplink is further behind than its lag_alarm.
[[nodiscard]] HealthCheck check_uplinks(const std::vector<UplinkReport>& uplinks);
/// Checks that the durable log is being written and is not full.
[[nodiscard]] HealthCheck check_log(const DurableLogStatus& log);

/// Warns of [channel] sections that no channel has claimed; `topics` are the topics of these sections.
[[nodiscard]] HealthCheck check_channel_settings(const std::vector<std::string>& topics);

/// Older losses do not make the gateway unready.
inline constexpr std::chrono::nanoseconds loss_remembered_for = std::chrono::seconds(5);

/// Checks that no device has lost a sample at the queue within loss_remembered_for before `now`.
[[nodiscard]] HealthCheck check_queue(const Sampler& sampler, MonoTime now);

/// Remembers the last time that an endpoint could not accept a connection or a subscription, and the formats without a
/// free place for another subscriber.
///
/// Threads: any.
/// Limits: one failure, the last; one text per format.
/// Failure: none.
class EndpointTrouble {
  public:
    /// A listener without free descriptors retries ten times a second, and a closed subscriber reconnects about as
    /// often, so after a few seconds without a failure the endpoint works again.
    static constexpr std::chrono::seconds remembered_for{5};

    explicit EndpointTrouble(const Clock& clock) : clock_(clock) {}

    void record(const MonitorEvent& event);
    /// Sets why a new subscriber of the format may be refused; "": there are free places.
    void set_crowd(PayloadFormat format, std::string crowd);
    [[nodiscard]] HealthCheck check() const;

  private:
    const Clock& clock_;
    mutable std::mutex mutex_;  // guards the members below
    MonoTime last_ = MonoTime::min();
    std::string text_;
    std::array<std::string, payload_formats> crowds_;
};

/// Warns of a client of the REST server that uses most of its connections or streams; "": there is none.
[[nodiscard]] HealthCheck check_rest(const std::string& crowd);

}  // namespace telegate
