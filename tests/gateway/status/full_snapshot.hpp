#pragma once

#include "status/status.hpp"

#include <chrono>
#include <cstring>
#include <string>
#include <string_view>

namespace telegate::test {

inline LedgerCounts counts(std::uint64_t sampled, std::uint64_t published, std::uint64_t queued,
                           std::uint64_t overflowed) {
    LedgerCounts counts;
    counts.sampled = sampled;
    counts.published = published;
    counts.queued = queued;
    counts.dropped[static_cast<std::size_t>(DropReason::queue_overflow)] = overflowed;
    return counts;
}

inline ChannelStatus channel(const std::string& topic) {
    ChannelStatus channel;
    channel.topic = topic;
    channel.unit = "%";
    channel.last.seq = 42;
    channel.last.time_utc_ns = 1'795'216'294'123'456'789;
    channel.last.quality = Quality::good;
    return channel;
}

inline ChannelStatus channel_of(double value) {
    ChannelStatus status = channel("host/x");
    status.last.type = ValueType::real;
    status.last.value.real = value;
    return status;
}

inline ChannelStatus channel_of(std::string_view text) {
    ChannelStatus status = channel("host/x");
    status.last.type = ValueType::text;
    status.last.text_bytes = static_cast<std::uint8_t>(text.size());
    std::memcpy(status.last.value.text, text.data(), text.size());
    return status;
}

inline SubscriberStatus full_subscriber() {
    SubscriberStatus subscriber;
    subscriber.format = PayloadFormat::cbor;
    subscriber.id = 3;
    subscriber.endpoint = "tcp://127.0.0.1:5556";
    subscriber.peer = "127.0.0.1:50312";
    subscriber.subscriptions = {"host/"};
    subscriber.subscriptions_count = 1;
    subscriber.matched = 50;
    subscriber.sent = 40;
    subscriber.dropped = 7;
    subscriber.pending = 3;
    subscriber.backlog_bytes = 300;
    subscriber.received = 2;
    subscriber.zmtp_minor = 1;
    subscriber.mechanism = Mechanism::curve;
    subscriber.curve_key = CurveKey{};
    subscriber.curve_name = "anna";
    subscriber.silent = std::chrono::milliseconds(1'200);
    subscriber.round_trip = std::chrono::microseconds(250);
    subscriber.losses[0] = {4, 1'000'000'000, 2'000'000'000};
    subscriber.losses[2] = {3, 3'000'000'000, 3'000'000'000};
    subscriber.lost[0] = {LostSample{"host/x", 5}, LostSample{"host/y", 9}};
    subscriber.blocking = true;
    return subscriber;
}

inline PublisherTotals full_totals() {
    PublisherTotals totals;
    totals.messages = 100;
    totals.connections_accepted = 4;
    totals.connections_refused = 1;
    totals.accept_errors = 6;
    totals.handshakes_failed = 2;
    totals.violations = 9;
    totals.heartbeat_timeouts = 8;
    totals.subscriptions = 1;
    totals.subscriptions_refused = 5;
    totals.received = 11;
    totals.matched = 60;
    totals.sent = 50;
    totals.dropped = 7;
    totals.pending = 3;
    totals.lost = {4, 2, 0, 1};
    return totals;
}

/// Two devices whose ledgers balance, one subscriber, one channel.
inline StatusSnapshot full_snapshot() {
    StatusSnapshot snapshot;
    snapshot.state = GatewayState::running;
    snapshot.epoch_ms = 1'795'216'294'123;
    snapshot.time_utc_ns = 1'795'216'294'123'456'789;
    snapshot.uptime = std::chrono::milliseconds(1'500);
    snapshot.queue_depth = 1;
    snapshot.queue_capacity = 1'024;
    snapshot.queue_high_water = 7;
    snapshot.queue_policy = OverflowPolicy::drop_newest;
    snapshot.devices = {DeviceStatus{.name = "host",
                                     .state = DeviceState::measuring,
                                     .interval = std::chrono::milliseconds(1'000),
                                     .channels = 20,
                                     .reads = 5,
                                     .ticks_missed = 1,
                                     .filtered_by = {0, 4, 0, 0},
                                     .thread = "tg-sample",
                                     .last_error = "",
                                     .last_good_utc_ns = 1'795'216'294'000'000'000,
                                     .state_since_utc_ns = 1'795'216'293'000'000'000,
                                     .samples_bad = 2,
                                     .lateness_p50 = std::chrono::microseconds(10),
                                     .lateness_p99 = std::chrono::microseconds(20),
                                     .lateness_max = std::chrono::microseconds(30)},
                        DeviceStatus{.name = "boiler",
                                     .state = DeviceState::error,
                                     .interval = std::chrono::milliseconds(100),
                                     .channels = 6,
                                     .reads = 50,
                                     .reads_failed = 3,
                                     .ticks_missed = 2,
                                     .thread = "tg-bus-boiler",
                                     .breaker = BreakerState::half_open,
                                     .last_error = "no reply",
                                     .refused = 2,
                                     .last_refused = "wrong checksum: \"\x01\"",
                                     .last_refused_utc_ns = 1'700'000'000'000'000'000,
                                     .is_error_current = true,
                                     .last_error_utc_ns = 1'795'216'294'000'000'000,
                                     .state_since_utc_ns = 1'795'216'294'000'000'000,
                                     .outages = 4}};
    snapshot.channels_bad = {1, 0};
    snapshot.ledger = {counts(100, 90, 4, 6), counts(10, 10, 0, 0)};
    snapshot.endpoints = {{"tcp://127.0.0.1:5556",
                           PayloadFormat::cbor,
                           "KEY",
                           2,
                           {SlowPolicy::block, 65'536, std::chrono::milliseconds(1'500)},
                           true},
                          {"ipc:///run/telegate/pub.sock", PayloadFormat::record}};
    snapshot.rest_endpoint = "127.0.0.1:8080";
    snapshot.subscribers = {full_subscriber()};
    snapshot.subscribers_revoked = 6;
    snapshot.gap_overflows = 12;
    snapshot.publisher = full_totals();
    snapshot.channels = {channel_of(12.5)};
    snapshot.channels_refused = 8;
    snapshot.sections_unclaimed = {"boiler/flow.temps"};
    snapshot.notices = {{{7, 0}, {0, 0}, {0, 3}}};
    snapshot.consumers = {{"history", {900, 7}}};
    return snapshot;
}

}  // namespace telegate::test
