#pragma once

#include "config/payload_format.hpp"
#include "core/bounded_queue.hpp"
#include "core/ledger.hpp"
#include "core/publisher.hpp"
#include "device/clock_watch.hpp"
#include "device/sampler.hpp"
#include "device/thread_schedule.hpp"
#include "durable/durable_log.hpp"
#include "encode/labels.hpp"
#include "line/sample_consumer.hpp"
#include "publish/format_feeds.hpp"
#include "publish/subscriber_status.hpp"
#include "services/services_status.hpp"
#include "state/previous_runs_state.hpp"
#include "status/reload_report.hpp"
#include "uplinks/uplinks.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

enum class GatewayState : std::uint8_t { starting, running, stopping };
[[nodiscard]] std::string_view to_string(GatewayState state) noexcept;

/// The last sample of one channel with the channel's names; seq 0 if all its samples were dropped.
struct ChannelStatus {
    std::string topic;
    std::string unit;
    TelemetrySample last{};
    std::array<ChannelDrops, drop_reasons> drops{};
};

/// The ledger of one consumer of samples since the start, or since its format has an endpoint.
struct ConsumerStatus {
    std::string name;
    ConsumerLedger ledger;
};

/// The data of GET /status at one point in time. Every number comes from the component that counts it.
struct StatusSnapshot {
    GatewayState state = GatewayState::starting;
    std::int64_t epoch_ms = 0;  // start of the gateway, ms since 1970 UTC; sequence numbers restart with it
    SharedLabels labels = std::make_shared<const Labels>();
    std::int64_t time_utc_ns = 0;  // of this snapshot
    std::chrono::nanoseconds uptime{0};
    ClockStatus clock;

    ConfigStatus config;
    std::vector<PreviousRun> previous_runs;  // from the state file, oldest first

    std::size_t queue_depth = 0;
    std::size_t queue_capacity = 0;
    std::size_t queue_high_water = 0;
    OverflowPolicy queue_policy = OverflowPolicy::drop_oldest;

    ThreadSchedule sampling_schedule;  // in force
    std::vector<DeviceStatus> devices;
    std::vector<std::uint64_t> channels_bad = {};  // one per device, same order; see ChannelWatch
    std::vector<LedgerCounts> ledger;              // one per device, same order
    LedgerCounts ledger_removed;                   // of all removed devices together
    /// Whether the ledger's queued count matches the content of the queue; see Gateway::take_snapshot().
    bool queue_agrees = true;
    bool channels_agree = true;  // whether the ledgers of channels match those of devices
    NoticesByFormat notices{};

    std::vector<ConsumerStatus> consumers;  // in the order in which they receive samples
    std::optional<DurableLogStatus> log;    // none: not configured
    std::vector<UplinkReport> uplinks;      // in the order of the settings
    std::uint64_t uplinks_abandoned = 0;    // threads that did not stop, see Uplinks

    std::vector<EndpointStatus> endpoints;  // in the order of the settings
    std::string rest_endpoint;
    std::vector<SubscriberStatus> subscribers;
    std::uint64_t subscribers_revoked = 0;  // closed because their keys were no longer authorized
    std::uint64_t gap_overflows = 0;        // closed because they had too many gaps to report
    PublisherTotals publisher;              // of all formats together
    std::vector<FormatTotals> formats;      // of each format that has had an endpoint

    ServicesStatus services;

    std::vector<ChannelStatus> channels;  // those that have had a sample and still exist, in order of appearance
    std::uint64_t channels_refused = 0;
    std::vector<std::string>
        sections_unclaimed;  // topics of [channel] sections without a channel; see UnclaimedSections
};

}  // namespace telegate
