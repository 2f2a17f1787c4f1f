#pragma once

#include "config/payload_format.hpp"
#include "core/bounded_queue.hpp"
#include "core/ledger.hpp"
#include "core/publisher.hpp"
#include "device/clock_watch.hpp"
#include "device/sampler.hpp"
#include "device/thread_schedule.hpp"
#include "encode/tags.hpp"
#include "line/sample_consumer.hpp"
#include "publish/format_feeds.hpp"
#include "publish/subscriber_status.hpp"
#include "recording/recorder.hpp"
#include "services/services_status.hpp"
#include "state/past_epochs.hpp"
#include "status/reload_report.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

enum class GatewayState : std::uint8_t { starting, running, stopping };
[[nodiscard]] std::string_view to_string(GatewayState state) noexcept;

/// The last sample of one channel with the channel's names; seq 0 when all that it had were dropped.
struct ChannelStatus {
    std::string topic;
    std::string unit;
    TelemetrySample last{};
    std::array<ChannelDrops, drop_reasons> drops{};
};

/// What one consumer of samples has received since the start, or since its format has had an endpoint.
struct ConsumerStatus {
    std::string name;
    ConsumerLedger ledger;
};

/// Everything that GET /status shows, taken at one moment. Every number comes from the part that counts it.
struct StatusSnapshot {
    GatewayState state = GatewayState::starting;
    std::int64_t epoch_ms = 0;  // the gateway's start, ms since 1970 UTC; sequence numbers restart with it
    Tags tags;
    std::int64_t time_utc_ns = 0;  // of this snapshot
    std::chrono::nanoseconds uptime{0};
    ClockStatus clock;

    ConfigStatus config;
    std::vector<PastStart> past_starts;  // of the state file, the oldest first

    std::size_t queue_depth = 0;
    std::size_t queue_capacity = 0;
    std::size_t queue_high_water = 0;
    OverflowPolicy queue_policy = OverflowPolicy::drop_oldest;

    ThreadSchedule sampling_schedule;  // in force
    std::vector<DeviceStatus> devices;
    std::vector<std::uint64_t> channels_bad = {};  // one per device, same order: see ChannelWatch
    std::vector<Books> books;                      // as well
    Books books_removed;                           // of all devices that are no more, together
    /// Whether what the books call queued is what the queue really holds, see Gateway::take_snapshot().
    bool queue_agrees = true;
    bool channels_agree = true;  // the books of the channels with those of the devices
    NoticesByFormat notices{};

    std::vector<ConsumerStatus> consumers;  // in the order in which they receive samples
    std::vector<RecorderStatus> recorders;

    std::vector<EndpointStatus> endpoints;  // in the order of the settings
    std::string rest_endpoint;
    std::vector<SubscriberStatus> subscribers;
    std::uint64_t subscribers_revoked = 0;  // closed because their keys were let in no more
    std::uint64_t subscribers_gapped = 0;   // closed because they had more gaps than can be told
    PublisherTotals publisher;              // of all formats together
    std::vector<FormatTotals> formats;      // of each that has had an endpoint

    ServicesStatus services;

    std::vector<ChannelStatus> channels;  // those that have had a sample and are still there, in order of appearance
    std::uint64_t channels_refused = 0;
    std::vector<std::string>
        sections_unclaimed;  // topics of [channel] sections that no channel has, see UnclaimedSections
};

}  // namespace telegate
