#include "endpoints/last_values.hpp"

#include "core/subscriber.hpp"
#include "encode/notice.hpp"
#include "gateway/encode/encoder_harness.hpp"
#include "support/catch.hpp"
#include "support/manual_clock.hpp"
#include "support/socket_harness.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr std::size_t value_count = 3'000;  // needs several iterations

FormatEndpoint endpoint_with_last_values(std::size_t backlog_bytes) {
    FormatEndpoint endpoint{std::get<Endpoint>(parse_endpoint("tcp://127.0.0.1:0")), PayloadFormat::json, "a"};
    endpoint.last_value = true;
    endpoint.delivery.backlog_bytes_max = backlog_bytes;
    return endpoint;
}

/// A publisher with channels that have one sample each, and one subscriber, which the test's thread or another one
/// writes to.
struct LastValuesLine {
    explicit LastValuesLine(std::size_t backlog_bytes = 16UL * 1024 * 1024)
        : endpoints{endpoint_with_last_values(backlog_bytes)} {
        feeds.publish_to(publishers.by_format());
        pump.feed({&history, feeds.feeds().at(0).get()});
        pump.start();
        for (std::size_t i = 0; i < value_count; ++i) {
            ids.push_back(channels.add(DeviceId{0}, "d", "c" + std::to_string(10'000 + i), "").value());
            publish(i);
        }
    }
    /// Publishes the next sample of a channel immediately.
    void publish(std::size_t channel) {
        TelemetrySample sample{};
        sample.channel = ids.at(channel);
        sample.seq = ++seqs[channel];
        const std::array one{sample};
        ledger.captured(DeviceId{0}, one);
        queue.push(queue.first(), one, [](const TelemetrySample&, QueueLoss) {});
        pump.drain_all();
    }
    void record(const MonitorEvent& event) {
        last_values.record(PayloadFormat::json, event);
        id = event.peer_id;
        if (event.kind == MonitorEventKind::subscribed && after_first_turn) {
            after_first_turn();
        }
    }
    void notify(MonitorEventKind kind, std::string_view prefix) {
        last_values.record(PayloadFormat::json, {kind, {}, {}, id, prefix, 0, nullptr});
    }
    /// Returns sequence numbers by topic, after everything was received.
    std::map<std::string, std::vector<std::uint64_t>> received() {
        REQUIRE(bench.turn_until([&] {
            inbox.receive();
            const PublisherTotals totals = publishers.totals();
            return totals.matched > 0 && last_values.waiting() == 0 &&
                   inbox.messages.size() == totals.matched - totals.dropped;
        }));
        std::map<std::string, std::vector<std::uint64_t>> result;
        for (const Frames& frames : inbox.messages) {
            result[frames.at(0)].push_back(seqs_of(PayloadFormat::json, frames.at(1)).first);
        }
        return result;
    }
    void connect(std::string_view prefix) {
        subscriber.subscribe(prefix);
        subscriber.connect(publishers.endpoints().at(0).endpoint);
    }

    Bench bench;
    ManualClock clock;
    ChannelTable channels;
    Ledger ledger{1, channels};
    BoundedQueue<TelemetrySample> queue{100, OverflowPolicy::drop_newest};
    QueueWaker waker;
    History history{1024UL * 1024};
    SlowGaps gaps{{channels, clock, 5, [](PayloadFormat, std::uint64_t) {
                   }}};
    std::vector<FormatEndpoint> endpoints;
    Publishers publishers{bench.reactor,
                          endpoints,
                          {100, GENERATE(std::size_t{1}, std::size_t{2})},
                          Publishers::Hooks{[this](PayloadFormat, const MonitorEvent& event) { record(event); },
                                            [this](PayloadFormat format) {
                                                return gaps.hooks(format);
                                            }}};
    FormatFeeds feeds{{channels, 5, nullptr, [this] {
                           waker.wake();
                       }}};
    Pump pump{{bench.reactor, queue, waker, channels, ledger}};
    LastValues last_values{{bench.reactor, channels, publishers, pump, feeds, history, gaps}};
    Subscriber subscriber{bench.reactor, SocketOptions()};
    Inbox<Subscriber> inbox{subscriber};
    std::vector<ChannelId> ids;
    std::map<std::size_t, std::uint64_t> seqs;
    std::uint64_t id = 0;
    std::function<void()> after_first_turn;
};

}  // namespace

TEST_CASE("last values that need several iterations arrive once each, and none after a live sample",
          "[gateway][last]") {
    LastValuesLine line;
    line.after_first_turn = [&] {
        CHECK(line.last_values.waiting() == 1);
        line.publish(0);                // its last value was already sent
        line.publish(value_count - 1);  // its last value was not sent yet
    };
    line.connect("");
    const auto received = line.received();
    CHECK(received.size() == value_count);
    for (const auto& [topic, seqs] : received) {
        CAPTURE(topic);
        const bool is_first = topic == "d/c10000";
        const bool is_last = topic == "d/c12999";
        const std::vector<std::uint64_t> once{is_last ? 2U : 1U};
        CHECK(seqs == (is_first ? std::vector<std::uint64_t>{1, 2} : once));
    }
    CHECK(line.last_values.most_in_turn() < LastValues::turn_bytes + 1'024);
}

TEST_CASE("after repeated unsubscribes a subscriber receives pending values, then all values once", "[gateway][last]") {
    LastValuesLine line;
    line.after_first_turn = [&] {
        for (int i = 0; i < 2'000; ++i) {
            line.notify(MonitorEventKind::unsubscribed, "");
            line.notify(MonitorEventKind::subscribed, "");
        }
        CHECK(line.last_values.waiting() == 1);
    };
    line.connect("");
    const auto received = line.received();
    CHECK(received.size() == value_count);
    for (const auto& [topic, seqs] : received) {
        CAPTURE(topic);
        CHECK(seqs.size() == 2);
    }
    CHECK(line.last_values.most_in_turn() < LastValues::turn_bytes + 1'024);
}

TEST_CASE("a pending subscription does not send values again that another subscription is sending", "[gateway][last]") {
    LastValuesLine line;
    line.after_first_turn = [&] {
        line.after_first_turn = {};
        line.notify(MonitorEventKind::subscribed, "d/c12");
        line.notify(MonitorEventKind::unsubscribed, "");
    };
    line.connect("");
    for (const auto& [topic, seqs] : line.received()) {
        CAPTURE(topic);
        CHECK(seqs.size() == 1);
    }
}

TEST_CASE("dropped last values are counted, and the first and the last one are named", "[gateway][last]") {
    LastValuesLine line(64UL * 1024);  // less than the values of one iteration
    line.connect("");
    REQUIRE(line.bench.turn_until([&] { return line.publishers.totals().matched == value_count; }));
    SubscriberStatus status = line.publishers.subscribers().front();
    line.gaps.show(status);
    const auto& [first, last] = status.lost[static_cast<std::size_t>(LossReason::slow)];
    CHECK(status.dropped > 100);
    CHECK(first.topic > "d/c10000");
    CHECK(first.seq == 1);
    CHECK(last.topic > first.topic);
    CHECK(status.matched == status.sent + status.dropped + status.pending);
}
