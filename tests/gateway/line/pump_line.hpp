#pragma once

#include "line/pump.hpp"
#include "publish/format_feeds.hpp"
#include "support/catch.hpp"
#include "support/socket_harness.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace telegate::test {

/// A pump with a publisher and a subscriber for each of the given formats, all in one thread. Samples get sequence
/// numbers per channel and increasing values. Threads: one. Limits: those of the queue. Failure: none.
struct PumpLine {
    explicit PumpLine(const std::vector<PayloadFormat>& formats, std::size_t capacity = 10'000,
                      OverflowPolicy policy = OverflowPolicy::drop_newest)
        : queue(capacity, policy) {
        std::vector<FormatPublisher> to;
        for (const PayloadFormat format : formats) {
            Publisher& publisher =
                *publishers.emplace_back(std::make_unique<Publisher>(bench.reactor, PublisherOptions()));
            Subscriber& subscriber =
                *subscribers.emplace_back(std::make_unique<Subscriber>(bench.reactor, SocketOptions()));
            inboxes.emplace_back(subscriber);
            subscriber.subscribe("");
            endpoints.push_back(publisher.bind(std::get<Endpoint>(parse_endpoint("tcp://127.0.0.1:0"))));
            subscriber.connect(endpoints.back());
            to.push_back({format, publisher});
            REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 1; }));
        }
        publish_to(to);
        pump.start();
    }

    void publish_to(const std::vector<FormatPublisher>& to, const std::vector<SampleConsumer*>& more = {}) {
        pump.feed({});
        feeds.publish_to(to);
        std::vector<SampleConsumer*> consumers = more;
        for (const auto& feed : feeds.feeds()) {
            consumers.push_back(feed.get());
        }
        pump.feed(consumers);
    }
    /// Returns the next sample of the channel.
    TelemetrySample sample(ChannelId channel) {
        TelemetrySample sample{};
        sample.channel = channel;
        sample.seq = ++seqs[channel];
        sample.type = ValueType::integer;
        sample.value.integer = ++values;
        return sample;
    }
    void push(ChannelId channel, int count) {
        enqueue(channel, count);
        waker.wake();
    }
    /// Pushes a sample like a sampler in low-power mode.
    void push_later(ChannelId channel) {
        enqueue(channel, 1);
        waker.wake_later();
    }
    void enqueue(ChannelId channel, int count) {
        for (int i = 0; i < count; ++i) {
            const std::array one{sample(channel)};
            ledger.captured(DeviceId{0}, one);
            queue.push(queue.first(), one, [this](const TelemetrySample& lost, QueueLoss) {
                ledger.dropped_at_queue(lost, DropReason::queue_overflow);
            });
        }
    }
    /// Returns the messages of a subscriber as soon as there are this many.
    const std::vector<Frames>& receive(std::size_t subscriber, std::size_t count) {
        CHECK(bench.turn_until([&] { return inboxes[subscriber].receive() >= count; }));
        return inboxes[subscriber].messages;
    }

    Bench bench;
    BoundedQueue<TelemetrySample> queue;
    QueueWaker waker;
    ChannelTable channels;
    ChannelId a = channels.add(DeviceId{0}, "d", "a", "").value();
    ChannelId b = channels.add(DeviceId{0}, "d", "b", "").value();
    Ledger ledger{1, channels};
    std::map<ChannelId, std::uint64_t> seqs;
    std::int64_t values = 0;
    std::vector<std::unique_ptr<Publisher>> publishers;
    std::vector<Endpoint> endpoints;
    std::vector<std::unique_ptr<Subscriber>> subscribers;
    std::vector<Inbox<Subscriber>> inboxes;
    FormatFeeds feeds{{channels, 5, nullptr, [this] {
                           waker.wake();
                       }}};
    Pump pump{{bench.reactor, queue, waker, channels, ledger}};
};

}  // namespace telegate::test
