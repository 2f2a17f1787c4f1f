#include "encode/record_encoder.hpp"
#include "support/catch.hpp"
#include "support/driver_settings.hpp"
#include "support/gateway_fixture.hpp"
#include "support/socket_harness.hpp"

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Counts all samples and reported losses on its own thread, starting with the first sample.
class Auditor {
  public:
    struct Account {
        std::uint64_t got = 0;
        std::map<char, std::uint64_t> lost;  // by reason code
        std::uint64_t next = 1;
    };

    explicit Auditor(const Endpoint& endpoint) : thread_([this, endpoint] { run(endpoint); }) {}
    ~Auditor() { end(); }
    Auditor(const Auditor&) = delete;
    Auditor& operator=(const Auditor&) = delete;

    void end() {
        ending_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
    }
    [[nodiscard]] bool closed() const { return closed_; }
    /// Samples and reported losses of all channels so far.
    [[nodiscard]] std::uint64_t accounted() const { return accounted_; }

    // Valid after end().
    std::map<std::string, Account> accounts;
    std::vector<std::string> faults;

  private:
    void run(const Endpoint& endpoint) {
        Reactor reactor;
        Subscriber subscriber(reactor, SocketOptions());
        subscriber.set_monitor([this](const MonitorEvent& event) {
            if (event.kind == MonitorEventKind::disconnected) {
                closed_ = true;
            }
        });
        subscriber.subscribe("");
        subscriber.connect(endpoint);
        MessageBatch batch;
        while (!ending_) {
            if (subscriber.receive_for(batch, std::chrono::milliseconds(10))) {
                for (const Message message : batch) {
                    observe(message);
                }
            }
        }
    }

    void observe(const Message& message) {
        std::vector<std::string_view> frames;
        for (const Bytes frame : message) {
            frames.push_back(as_text(frame));
        }
        const std::string_view topic = frames.at(0).substr(0, frames.at(0).find('$'));
        Account& account = accounts[std::string(topic)];
        for (std::string_view rest = frames.at(1); !rest.empty(); rest.remove_prefix(sizeof(Record))) {
            Record record;
            std::memcpy(&record, rest.data(), sizeof record);
            observe(topic, account, record);
        }
    }
    void observe(std::string_view topic, Account& account, const Record& record) {
        constexpr int gap = 16;
        constexpr int beat = 17;
        const bool is_beat = static_cast<int>(record.type) == beat;
        const std::uint64_t expected = is_beat ? record.seq + 1 : record.seq;
        if (account.next != expected) {
            faults.push_back(std::string(topic) + " " + std::to_string(expected) + " instead of " +
                             std::to_string(account.next));
        }
        if (is_beat) {
            return;
        }
        if (static_cast<int>(record.type) != gap) {
            ++account.got;
            account.next = record.seq + 1;
            ++accounted_;
            return;
        }
        std::uint64_t last = 0;
        std::memcpy(&last, record.value.data(), sizeof last);
        account.lost[record.value[sizeof last]] += last - record.seq + 1;
        account.next = last + 1;
        accounted_ += last - record.seq + 1;
    }

    std::atomic<bool> ending_{false};
    std::atomic<bool> closed_{false};
    std::atomic<std::uint64_t> accounted_{0};
    std::thread thread_;
};

/// Checks the ledger repeatedly without waiting for any thread.
class Inspector {
  public:
    explicit Inspector(const GatewayFixture& fixture) : thread_([this, &fixture] { run(fixture); }) {}
    ~Inspector() { end(); }
    Inspector(const Inspector&) = delete;
    Inspector& operator=(const Inspector&) = delete;

    void end() {
        ending_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    std::uint64_t looks = 0;
    std::uint64_t unbalanced = 0;
    std::uint64_t absurd = 0;
    std::uint64_t disagreeing = 0;

  private:
    void run(const GatewayFixture& fixture) {
        while (!ending_) {
            const Ledger& ledger = fixture.ledger();
            for (const LedgerCounts& counts : ledger.cut()) {
                inspect(counts);
            }
            for (std::size_t i = 0; i < fixture.channels().size(); ++i) {
                inspect(ledger.counts_of(static_cast<ChannelId>(i)));
            }
            disagreeing += ledger.channels_agree(ledger.devices()) ? 0U : 1U;
            ++looks;
            std::this_thread::yield();
        }
    }
    void inspect(const LedgerCounts& counts) {
        unbalanced += counts.balanced() ? 0U : 1U;
        absurd += counts.queued > counts.sampled ? 1U : 0U;  // a negative number, interpreted as unsigned
    }

    std::atomic<bool> ending_{false};
    std::thread thread_;
};

/// Random actions on a gateway. Threads: one. Limits: a few devices. Failure: none.
struct Fate {
    explicit Fate(std::uint32_t seed) : random(seed) {
        settings.log_level = "off";
        settings.rest_port = 0;
        settings.queue_size = 300;
        settings.heartbeat_ms = 20;
        settings.io_threads = 1 + below(3);
        settings.publish.emplace_back();
        settings.publish.back().name = "record";
        settings.publish.back().endpoint = "tcp://127.0.0.1:0";
        settings.publish.back().format = "record";
        // the auditor may be slow, and still receives everything
        settings.publish.back().backlog_bytes = 1'073'741'824;
        settings.devices = {device("steady")};
    }

    std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); }

    DeviceSettings device(const std::string& name) {
        DeviceSettings device;
        device.name = name;
        device.driver = "simulated";
        test::set_key(device, "autostart", name != "steady" ? "yes" : "no");
        device.interval_us = 500 + below(3'000);
        test::set_key(device, "waveforms", "sine, ramp, counter");
        test::set_key(device, "burst_probability", "0." + std::to_string(below(3)));
        test::set_key(device, "burst_samples", std::to_string(1 + below(50)));
        test::set_key(device, "error_probability", "0." + std::to_string(below(3)));
        return device;
    }

    DeviceSettings calm_device(const std::string& name) {
        DeviceSettings calm = device(name);
        test::set_key(calm, "autostart", "yes");
        calm.interval_us = 20'000;
        test::set_key(calm, "burst_probability", "0");
        test::set_key(calm, "error_probability", "0");
        return calm;
    }

    const Settings& next() {
        constexpr std::array policies{"drop_oldest", "drop_newest", "block"};
        settings.queue_policy = policies[below(policies.size())];
        settings.queue_size = 1 + below(500);
        settings.heartbeat_ms = below(2) == 0 ? 0 : 10 + below(30);
        const std::string name = "passing-" + std::to_string(below(4));
        const auto removed =
            std::erase_if(settings.devices, [&](const DeviceSettings& each) { return each.name == name; });
        if (removed == 0 || below(2) == 0) {
            settings.devices.push_back(device(name));
        }
        return settings;
    }

    std::mt19937 random;
    Settings settings;
};

/// A subscriber that connects, and disconnects or is closed.
struct Passer {
    void come_or_go(GatewayFixture& fixture, Fate& fate) {
        switch (fate.below(3)) {
            case 0: subscriber = nullptr; break;
            case 1: {
                const StatusSnapshot now = fixture.status();
                const SubscriberStatus& last = now.subscribers.back();
                if (last.id > 1) {  // the first is the auditor
                    CHECK(fixture.gateway->close_subscriber(last.format, last.id).has_value());
                }
                break;
            }
            default:
                subscriber = std::make_unique<Subscriber>(bench.reactor, SocketOptions());
                subscriber->subscribe("");
                subscriber->connect(std::get<Endpoint>(parse_endpoint(fixture.endpoint())));
                break;
        }
        bench.reactor.poll();
    }

    Bench bench;
    std::unique_ptr<Subscriber> subscriber;
};

std::uint64_t lost(const Auditor::Account& account, char reason) {
    const auto known = account.lost.find(reason);
    return known == account.lost.end() ? 0 : known->second;
}

std::uint64_t sampled_in_all(const GatewayFixture& fixture) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < fixture.channels().size(); ++i) {
        sum += fixture.ledger().counts_of(static_cast<ChannelId>(i)).sampled;
    }
    return sum;
}

/// The ledger agrees with the auditor to the last sample.
void compare(const GatewayFixture& fixture, Auditor& auditor) {
    CHECK(auditor.faults == std::vector<std::string>{});
    for (std::size_t i = 0; i < fixture.channels().size(); ++i) {
        const auto id = static_cast<ChannelId>(i);
        const ChannelLedgerCounts counts = fixture.ledger().counts_of(id);
        const Auditor::Account& account = auditor.accounts[fixture.channels().at(id).topic];
        CAPTURE(fixture.channels().at(id).topic);
        CHECK(counts.queued == 0);
        CHECK(counts.sampled == account.next - 1);
        CHECK(counts.published == account.got);
        CHECK(counts.drops[0].count == lost(account, 1));
        CHECK(counts.drops[1].count == lost(account, 2));
    }
    for (const LedgerCounts& counts : fixture.ledger().cut()) {
        CHECK(counts.balanced());
        CHECK(counts.queued == 0);
    }
    CHECK(fixture.ledger().channels_agree(fixture.ledger().devices()));
}

}  // namespace

TEST_CASE("the ledger balances in every snapshot and agrees with a subscriber to the last sample",
          "[gateway][ledger][random][thread]") {
    const auto seed = std::random_device()();
    INFO("seed " << seed);
    Fate fate(seed);
    GatewayFixture fixture(fate.settings);
    Auditor auditor(std::get<Endpoint>(parse_endpoint(fixture.endpoint())));
    REQUIRE(fixture.wait_for([](const StatusSnapshot& now) { return now.publisher.subscriptions == 1; }));
    REQUIRE(fixture.gateway->command("steady", DeviceCommand::start).has_value());
    Inspector inspector(fixture);
    Passer passer;
    for (int count = 0; count < 200; ++count) {
        const ReloadReport report = fixture.change_to(fate.next());
        REQUIRE((report.outcome == ReloadOutcome::applied || report.outcome == ReloadOutcome::unchanged));
        passer.come_or_go(fixture, fate);
        const std::uint64_t before = fixture.ledger().cut().at(0).sampled;
        REQUIRE(eventually([&] { return fixture.ledger().cut().at(0).sampled > before; }));
        const StatusSnapshot now = fixture.status();
        REQUIRE(now.queue_agrees);
        REQUIRE(now.channels_agree);
        REQUIRE(now.publisher.matched == now.publisher.sent + now.publisher.dropped + now.publisher.pending);
    }
    fate.settings.queue_policy = "drop_oldest";
    fate.settings.queue_size = 1;  // less than one reading, so that at least one sample was dropped with any seed
    REQUIRE(fixture.change_to(fate.settings).outcome == ReloadOutcome::applied);
    REQUIRE(eventually([&] { return fixture.ledger().cut().at(0).dropped[0] > 0; }));
    passer.subscriber = nullptr;
    // Readings so infrequent that the auditor catches up within the grace period of a stop, even on a busy machine.
    fate.settings.devices = {fate.calm_device("steady")};
    REQUIRE(fixture.change_to(fate.settings).outcome == ReloadOutcome::applied);
    REQUIRE(eventually([&] { return auditor.accounted() >= sampled_in_all(fixture); }));
    const std::uint64_t before_stop = fixture.ledger().cut().at(0).sampled;
    REQUIRE(eventually([&] { return fixture.ledger().cut().at(0).sampled > before_stop; }));
    CHECK(fixture.stop());
    CHECK(eventually([&] { return auditor.closed(); }));
    auditor.end();
    inspector.end();
    CHECK(inspector.looks > 0);
    CHECK(inspector.unbalanced + inspector.absurd + inspector.disagreeing == 0);
    compare(fixture, auditor);
}
