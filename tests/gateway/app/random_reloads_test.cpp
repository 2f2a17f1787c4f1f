#include "encode/record_encoder.hpp"
#include "gateway/app/random_settings.hpp"
#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/rounds.hpp"
#include "support/socket_harness.hpp"

#include <atomic>
#include <charconv>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Subscribes to everything and checks that the sequence numbers of each channel are consecutive, on its own thread.
class Witness {
  public:
    Witness(const Endpoint& endpoint, PayloadFormat format)
        : format_(format), thread_([this, endpoint] { run(endpoint); }) {}
    ~Witness() { end(); }
    Witness(const Witness&) = delete;
    Witness& operator=(const Witness&) = delete;

    void end() {
        ending_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
    }
    [[nodiscard]] std::uint64_t samples() const { return samples_; }
    /// Returns whether the gateway has closed the connection.
    [[nodiscard]] std::uint64_t closed() const { return closed_; }

    // Valid after end().
    std::map<std::string, std::uint64_t> first;
    std::map<std::string, std::uint64_t> last;
    std::vector<std::string> holes;

  private:
    void run(const Endpoint& endpoint) {
        Reactor reactor;
        Subscriber subscriber(reactor, SocketOptions());
        subscriber.set_monitor(
            [this](const MonitorEvent& event) { closed_ += event.kind == MonitorEventKind::disconnected ? 1 : 0; });
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
        const std::string topic(frames.at(0));
        if (topic.find('$') != std::string::npos) {
            return;  // a heartbeat notice
        }
        std::string_view payload = frames.at(1);
        if (format_ == PayloadFormat::json) {
            constexpr std::string_view member = "\"seq\":";
            const char* const at = payload.data() + payload.find(member) + member.size();
            std::uint64_t seq = 0;
            std::from_chars(at, payload.data() + payload.size(), seq);
            return observe(topic, seq);
        }
        for (; !payload.empty(); payload.remove_prefix(sizeof(Record))) {
            Record record;
            std::memcpy(&record, payload.data(), sizeof record);
            observe(topic, record.seq);
        }
    }
    void observe(const std::string& topic, std::uint64_t seq) {
        const auto [known, is_new] = last.try_emplace(topic, seq);
        if (is_new) {
            first[topic] = seq;
        } else if (seq != known->second + 1) {
            holes.push_back(topic + " " + std::to_string(known->second) + " -> " + std::to_string(seq));
        }
        known->second = seq;
        ++samples_;
    }

    const PayloadFormat format_;
    std::atomic<bool> ending_{false};
    std::atomic<std::uint64_t> samples_{0};
    std::atomic<std::uint64_t> closed_{0};
    std::thread thread_;
};

/// Subscribers that connect to any existing endpoint, and are closed when it is removed.
struct Passers {
    void come_to(const std::string& endpoint) {
        subscribers.push_back(std::make_unique<Subscriber>(bench.reactor, SocketOptions()));
        subscribers.back()->subscribe("");
        subscribers.back()->connect(std::get<Endpoint>(parse_endpoint(endpoint)));
        if (subscribers.size() > 4) {
            subscribers.pop_front();
        }
    }
    void read() {
        bench.reactor.poll();
        for (const auto& subscriber : subscribers) {
            while (subscriber->receive(batch)) {
            }
        }
    }

    Bench bench;
    MessageBatch batch;
    std::deque<std::unique_ptr<Subscriber>> subscribers;
};

std::set<std::string> device_names(const Settings& settings) {
    std::set<std::string> names;
    for (const DeviceSettings& device : settings.devices) {
        names.insert(device.name);
    }
    return names;
}

/// The ledger balances, and the lists match the settings.
void check_status(const StatusSnapshot& now, const Settings& settings) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < now.devices.size(); ++i) {
        names.insert(now.devices[i].name);
        CHECK(now.ledger.at(i).balanced());
        CHECK(now.ledger.at(i).dropped_total() == 0);
    }
    CHECK(names == device_names(settings));
    CHECK(now.ledger_removed.balanced());
    CHECK(now.queue_agrees);
    CHECK(now.channels_agree);
    CHECK(now.endpoints.size() == settings.publish.size());
    CHECK(now.publisher.matched == now.publisher.sent + now.publisher.dropped + now.publisher.pending);
}

bool is_steady(const std::string& topic) {
    return topic.starts_with("steady-");
}

}  // namespace

TEST_CASE("a thousand random reloads lose no sample and close no connection that they do not concern",
          "[gateway][reload][random]") {
    const auto seed = std::random_device()();
    INFO("seed " << seed);
    RandomSettings settings(seed);
    GatewayFixture fixture(settings.now());
    const StatusSnapshot at_first = fixture.status();
    Witness as_json(std::get<Endpoint>(parse_endpoint(at_first.endpoints.at(0).endpoint)), PayloadFormat::json);
    Witness as_record(std::get<Endpoint>(parse_endpoint(at_first.endpoints.at(1).endpoint)), PayloadFormat::record);
    REQUIRE(eventually([&] { return as_json.samples() > 0 && as_record.samples() > 0; }));
    Passers passers;

    for (int count = 0; count < rounds(1'000); ++count) {
        const ReloadReport report = fixture.change_to(settings.next());
        if (report.outcome != ReloadOutcome::applied && report.outcome != ReloadOutcome::unchanged) {
            FAIL(to_string(report.outcome) << ": " << report.problems.at(0).text());
        }
        // About 5 ms of samples between two reloads.
        const std::uint64_t before = as_json.samples();
        REQUIRE(eventually([&] { return as_json.samples() >= before + 50; }));
        REQUIRE(as_json.closed() + as_record.closed() == 0);
        passers.read();
        if (count % 10 == 0) {
            const StatusSnapshot now = fixture.status();
            check_status(now, settings.now());
            passers.come_to(
                now.endpoints.at(settings.below(static_cast<std::uint32_t>(now.endpoints.size()))).endpoint);
        }
    }
    const StatusSnapshot at_last = fixture.status();
    check_status(at_last, settings.now());
    passers.subscribers.clear();
    CHECK(fixture.stop());
    CHECK(eventually([&] { return as_json.closed() == 1 && as_record.closed() == 1; }));
    for (Witness* const witness : {&as_json, &as_record}) {
        witness->end();
        CHECK(witness->holes == std::vector<std::string>{});
        for (const ChannelStatus& channel : at_last.channels) {
            CAPTURE(channel.topic, channel.last.seq);
            CHECK(witness->last[channel.topic] >= channel.last.seq);
            CHECK((is_steady(channel.topic) || witness->first[channel.topic] == 1));
        }
    }
}
