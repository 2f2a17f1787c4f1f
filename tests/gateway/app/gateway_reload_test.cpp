#include "support/catch.hpp"
#include "support/driver_settings.hpp"
#include "support/gateway_fixture.hpp"
#include "support/socket_harness.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

const std::string rest_section = "[rest]\nlisten = 127.0.0.1:0\n";
const std::string boiler_device = "[device \"boiler\"]\ndriver = simulated\ninterval_ms = 1\nwaveforms = sine\n";
const std::string pump_device = "[device \"pump\"]\ndriver = simulated\ninterval_ms = 1\nwaveforms = ramp\n";

/// A gateway whose settings are replaced by other texts.
struct ReloadFixture : GatewayFixture {
    using GatewayFixture::GatewayFixture;

    ReloadReport change_to(const std::string& ini) {
        return GatewayFixture::change_to(parse_settings(ini, "test.ini"));
    }
    std::vector<std::string> devices() {
        std::vector<std::string> names;
        for (const DeviceStatus& device : status().devices) {
            names.push_back(device.name);
        }
        return names;
    }
    bool is_shown(const std::string& topic) {
        const StatusSnapshot now = status();
        return std::any_of(now.channels.begin(), now.channels.end(),
                           [&](const auto& each) { return each.topic == topic; });
    }
};

LedgerCounts total(const StatusSnapshot& snapshot) {
    LedgerCounts total = snapshot.ledger_removed;
    for (const LedgerCounts& counts : snapshot.ledger) {
        total += counts;
    }
    return total;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a reload applies queue size, policy and intervals", "[gateway][reload]") {
    ReloadFixture fixture(rest_section + boiler_device);
    const ReloadReport report =
        fixture.change_to("queue_size = 77\n[queue]\npolicy = drop_newest\n" + rest_section +
                          "[device \"boiler\"]\ndriver = simulated\ninterval_ms = 2\nwaveforms = sine\n");
    CHECK(report.outcome == ReloadOutcome::applied);
    const StatusSnapshot now = fixture.status();
    CHECK(now.queue_capacity == 77);
    CHECK(now.queue_policy == OverflowPolicy::drop_newest);
    CHECK(now.devices.at(0).interval == std::chrono::milliseconds(2));
    CHECK(now.config.generation == 2);
    CHECK(now.config.last_reload.value().outcome == ReloadOutcome::applied);
}

TEST_CASE("a reload applies the name and the tags of the gateway, also to payloads", "[gateway][reload]") {
    const std::string rest = rest_section + boiler_device + "[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n";
    ReloadFixture fixture("name = plant-7\n[tags]\nsite = north\n" + rest);
    CHECK(fixture.status().labels->gateway() == "plant-7");
    Bench bench;
    Subscriber subscriber(bench.reactor, SocketOptions());
    Inbox<Subscriber> inbox(subscriber);
    subscriber.subscribe("boiler/");
    subscriber.connect(fixture.gateway->endpoints().at(0));
    const auto receives = [&](const std::string& tags) {
        return bench.turn_until([&] {
            inbox.receive();
            return !inbox.messages.empty() && inbox.messages.back().at(1).find(tags) != std::string::npos;
        });
    };
    CHECK(receives(R"("tags":{"site":"north"})"));
    CHECK(fixture.change_to("name = plant-8\n[tags]\nsite = south\n" + rest).outcome == ReloadOutcome::applied);
    CHECK(receives(R"("tags":{"site":"south"})"));
    CHECK(fixture.status().labels->gateway() == "plant-8");
    CHECK(fixture.status().labels->gateway_tags() == Tags{{"site", "south"}});
    CHECK(fixture.status().ledger.at(0).balanced());
    const auto sampled = fixture.status().ledger.at(0).sampled;
    const std::string tagged = "[channel \"boiler/sine\"]\ntags = tank=2\n";
    CHECK(fixture.change_to("name = plant-8\n[tags]\nsite = south\n" + rest + tagged).outcome ==
          ReloadOutcome::applied);
    CHECK(receives(R"("tags":{"site":"south","tank":"2"})"));
    CHECK(fixture.status().ledger.at(0).sampled > sampled);
}

TEST_CASE("a reload applies the size of the history, which keeps its samples", "[gateway][reload]") {
    ReloadFixture fixture("history_bytes = 64KiB\nhistory_per_channel = 0\n" + rest_section + boiler_device);
    CHECK(fixture.history().capacity() == 1'024);
    CHECK(eventually([&] { return fixture.history().position() > 100; }));
    CHECK(fixture
              .change_to("history_bytes = 1MiB\nhistory_per_channel = 3\nhistory_age = 1h\n" + rest_section +
                         boiler_device)
              .outcome == ReloadOutcome::applied);
    CHECK(eventually([&] { return fixture.history().capacity() == 12'288; }));
    CHECK(fixture.history().kept()->per_channel() == 3);
    CHECK(eventually([&] { return fixture.history().position() > 2'000; }));
    CHECK(fixture.history().oldest() < 1'000);
    CHECK(fixture.status().ledger.at(0).balanced());
}

TEST_CASE("devices are added and removed, and the ledger of removed ones stays in the total", "[gateway][reload]") {
    ReloadFixture fixture(rest_section + boiler_device);
    CHECK(fixture.wait_for([](const StatusSnapshot& s) { return total(s).published > 0; }));
    CHECK(fixture.change_to(rest_section + pump_device).outcome == ReloadOutcome::applied);
    CHECK(fixture.devices() == Texts{"pump"});
    CHECK(eventually([&] { return fixture.is_shown("pump/ramp"); }));
    CHECK_FALSE(fixture.is_shown("boiler/sine"));
    CHECK(fixture.gateway->health().ready());
    const StatusSnapshot without = fixture.status();
    CHECK(without.ledger_removed.sampled > 0);
    CHECK(without.ledger_removed.balanced());
    CHECK(without.queue_agrees);
    CHECK(fixture.change_to(rest_section + boiler_device + pump_device).outcome == ReloadOutcome::applied);
    const StatusSnapshot again = fixture.status();
    CHECK(fixture.devices() == Texts{"boiler", "pump"});
    CHECK(again.ledger.at(0).sampled >= without.ledger_removed.sampled);
    CHECK(again.ledger_removed.sampled == 0);
    CHECK_FALSE(fixture.gateway->command("nobody", DeviceCommand::stop));
}

TEST_CASE("a subscriber at an endpoint added by a reload receives samples", "[gateway][reload]") {
    ReloadFixture fixture(rest_section + boiler_device);
    const std::string publish = "[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\nformat = record\n";
    CHECK(fixture.change_to(rest_section + boiler_device + publish).outcome == ReloadOutcome::applied);
    Bench bench;
    Subscriber subscriber(bench.reactor, SocketOptions());
    Inbox<Subscriber> inbox(subscriber);
    subscriber.subscribe("boiler/");
    subscriber.connect(std::get<Endpoint>(parse_endpoint(fixture.status().endpoints.at(0).endpoint)));
    CHECK(bench.turn_until([&] { return inbox.receive() >= 5; }));
    CHECK(fixture.change_to(rest_section + boiler_device).outcome == ReloadOutcome::applied);
    CHECK(bench.turn_until([&] {
        inbox.receive();
        return subscriber.peers().empty();
    }));
    CHECK(fixture.status().endpoints.empty());
}

TEST_CASE("an address in use makes a reload fail as a whole", "[gateway][reload]") {
    ReloadFixture fixture(rest_section + boiler_device);
    Reactor reactor;
    Publisher other(reactor, {});
    const Endpoint taken = other.bind(std::get<Endpoint>(parse_endpoint("tcp://127.0.0.1:0")));
    const ReloadReport report = fixture.change_to("queue_size = 77\n" + rest_section + pump_device +
                                                  "[publish \"a\"]\nendpoint = " + to_string(taken) + "\n");
    CHECK(report.outcome == ReloadOutcome::failed);
    REQUIRE(report.problems.size() == 1);
    CHECK_THAT(report.problems[0].what, Catch::Contains(std::to_string(taken.port)));
    CHECK(fixture.devices() == Texts{"boiler"});
    CHECK(fixture.status().queue_capacity >= 1'024);
    CHECK(fixture.status().config.generation == 1);
}

TEST_CASE("a file with a problem changes nothing, also if only a restart would apply the setting with the problem",
          "[gateway][reload]") {
    ReloadFixture fixture(rest_section + boiler_device);
    const ReloadReport report = fixture.change_to(
        "queue_size = 77\n[rest]\nlisten = 127.0.0.1:0\n"
        "tls_certificate = /nonexistent\ntls_key = /nonexistent\n" +
        boiler_device);
    CHECK(report.outcome == ReloadOutcome::invalid);
    CHECK(fixture.status().queue_capacity >= 1'024);
}

TEST_CASE("a device that cannot be created makes a reload fail as a whole", "[gateway][reload]") {
    ReloadFixture fixture(rest_section + boiler_device);
    const ReloadReport report =
        fixture.change_to(rest_section + pump_device + "[device \"other\"]\ndriver = host\nproc_root = /nonexistent\n");
    CHECK(report.outcome == ReloadOutcome::invalid);
    CHECK(fixture.devices() == Texts{"boiler"});
}

TEST_CASE("a reload fails while a full queue blocks sampling, and releases the new address", "[gateway][reload]") {
    ReloadFixture fixture("queue_size = 1\n[queue]\npolicy = block\n" + rest_section + boiler_device);
    fixture.pause_pump();
    // One sample in the queue, and one held by the blocked sampler.
    REQUIRE(fixture.wait_for([](const StatusSnapshot& s) { return s.ledger.at(0).queued == 2; }));
    const ReloadReport report = fixture.change_to("queue_size = 1\n[queue]\npolicy = block\n" + rest_section +
                                                  pump_device + "[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n");
    CHECK(report.outcome == ReloadOutcome::failed);
    CHECK(report.problems.at(0).what == "the sampling thread did not respond in time");
    CHECK(fixture.devices() == Texts{"boiler"});
    CHECK(fixture.status().endpoints.empty());
    fixture.resume_pump();
    CHECK(fixture.change_to(rest_section + pump_device).outcome == ReloadOutcome::applied);
}

TEST_CASE("a reload that was applied while the I/O thread was slow is reported as applied", "[gateway][reload]") {
    ReloadFixture fixture(rest_section + boiler_device);
    std::promise<void> goes_on;
    fixture.post_to_io([waits = goes_on.get_future().share()] { waits.wait(); });
    const ReloadReport report = fixture.change_to(rest_section + pump_device);
    goes_on.set_value();
    CHECK(report.outcome == ReloadOutcome::applied);
    REQUIRE(report.problems.size() == 1);
    CHECK_THAT(report.problems[0].what, Catch::Contains("will be updated when it does"));
    CHECK(fixture.devices() == Texts{"pump"});
    CHECK(fixture.status().config.generation == 2);
}

TEST_CASE("more device names than the capacity need a restart", "[gateway][reload]") {
    ReloadFixture fixture(rest_section);
    ReloadReport report;
    for (std::size_t batch = 0; batch <= Gateway::device_names_max / 200; ++batch) {
        Settings settings = parse_settings(rest_section, "test.ini");
        for (std::size_t i = 0; i < 200; ++i) {
            DeviceSettings& device = settings.devices.emplace_back();
            device.name = "d" + std::to_string(batch * 200 + i);
            device.driver = "simulated";
            device.interval_ms = 60'000;
            test::set_key(device, "waveforms", "sine");
        }
        report = fixture.GatewayFixture::change_to(settings);
    }
    CHECK(report.outcome == ReloadOutcome::needs_restart);
    CHECK_THAT(report.problems.at(0).what, Catch::Contains("restart the gateway"));
    CHECK(fixture.devices().front() == "d800");
}
