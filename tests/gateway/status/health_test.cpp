#include "status/health_checks.hpp"

#include "core/publisher.hpp"
#include "device/driver.hpp"
#include "device/sampler.hpp"
#include "device/scripted_driver.hpp"
#include "support/catch.hpp"
#include "support/gateway_fixture.hpp"
#include "support/manual_clock.hpp"
#include "support/scratch_dir.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

constexpr auto made_device =
    "[rest]\nlisten = 127.0.0.1:0\n[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n"
    "[device \"made\"]\ndriver = simulated\ninterval_ms = 1\n";

/// A device whose reading hangs until it is released.
class HangingDriver final : public Driver {
  public:
    explicit HangingDriver(std::shared_future<void> let_go) : released_(std::move(let_go)) {}
    void open(SampleBatch& batch) override { (void)batch.add_channel("a", ""); }
    ReadResult read(SampleBatch& /*batch*/, MonoTime /*now*/) noexcept override {
        released_.wait();
        return {};
    }
    void reset() noexcept override {}

  private:
    const std::shared_future<void> released_;
};

const HealthCheck& check_of(const Health& health, std::string_view name) {
    const auto found = std::find_if(health.checks.begin(), health.checks.end(),
                                    [&](const HealthCheck& check) { return check.name == name; });
    REQUIRE(found != health.checks.end());
    return *found;
}

bool becomes_bad(Gateway& gateway, std::string_view name) {
    return eventually([&] { return !check_of(gateway.health(), name).good; });
}

bool dies(Gateway& gateway) {
    return eventually([&] { return !gateway.health().alive(); });
}

bool recovers(Gateway& gateway) {
    return eventually([&] { return gateway.health().ready(); });
}

}  // namespace

TEST_CASE("a running gateway is alive and ready; a stopping one is alive", "[gateway][health]") {
    GatewayFixture fixture(made_device);
    CHECK(recovers(*fixture.gateway));
    CHECK(fixture.stop());
    CHECK(fixture.gateway->health().alive());
    CHECK(check_of(fixture.gateway->health(), "state").detail == "stopping");
}

TEST_CASE("a gateway whose devices have nothing due for a long time is alive", "[gateway][health]") {
    GatewayFixture fixture("[rest]\nlisten = 127.0.0.1:0\n[device \"idle\"]\ndriver = simulated\nautostart = no\n");
    CHECK(recovers(*fixture.gateway));
    CHECK(check_of(fixture.gateway->health(), "stopped").good);
}

TEST_CASE("an I/O thread that does not respond is reported at once, and is fatal if it continues",
          "[gateway][health]") {
    GatewayFixture fixture(made_device);
    std::promise<void> let_go;
    fixture.post_to_io([&] { let_go.get_future().wait(); });
    const Health health = fixture.gateway->health();
    CHECK_FALSE(health.ready());
    CHECK(health.alive());
    CHECK(check_of(health, "pump").detail.starts_with("tg-io has not responded for "));
    CHECK(dies(*fixture.gateway));
    let_go.set_value();
    CHECK(recovers(*fixture.gateway));
}

TEST_CASE("a pump that does not drain a queue with samples is not alive", "[gateway][health]") {
    CHECK(check_pump({.silent = 0s, .stalled = 1s}).good);
    const HealthCheck check = check_pump({.silent = 0s, .stalled = stuck_after});
    CHECK_FALSE(check.good);
    CHECK(check.vital);
    CHECK(check.detail == "nothing was taken from the queue for 2000 ms");
}

TEST_CASE("a device that blocks the sampling thread is reported, and is fatal", "[gateway][health]") {
    std::promise<void> let_go;
    const Settings settings = parse_settings("[rest]\nlisten = 127.0.0.1:0\n", "test.ini");
    Plan plan = make_plan(settings);
    DeviceOptions options;
    options.name = "hanging";
    plan.devices.push_back({options, std::make_unique<HangingDriver>(let_go.get_future().share())});
    Log log("off");
    Gateway gateway(settings, std::move(plan), log);
    gateway.start();
    CHECK(dies(gateway));
    CHECK(check_of(gateway.health(), "sampling").detail.find("behind its deadline") != std::string::npos);
    CHECK(check_of(gateway.health(), "pump").good);
    let_go.set_value();
    CHECK(recovers(gateway));
}

TEST_CASE("a sampling thread that waits for space in the queue requires no restart", "[gateway][health]") {
    GatewayFixture fixture(std::string("queue_size = 4\n[queue]\npolicy = block\n") + made_device);
    fixture.pause_pump();
    CHECK(becomes_bad(*fixture.gateway, "sampling"));
    const Health health = fixture.gateway->health();
    CHECK_FALSE(check_of(health, "sampling").vital);
    CHECK(check_of(health, "sampling").detail.find("for space in the queue") != std::string::npos);
    fixture.resume_pump();
    CHECK(recovers(*fixture.gateway));
}

TEST_CASE("a failing device is a warning, by name, and the gateway stays ready", "[gateway][health]") {
    GatewayFixture fixture(std::string(made_device) + "error_probability = 1\nerrors_before_safe = 3\n");
    CHECK(eventually(
        [&] { return check_of(fixture.gateway->health(), "devices").detail.starts_with("made is in state safe ("); }));
    CHECK(check_of(fixture.gateway->health(), "devices").is_warning);
    CHECK(recovers(*fixture.gateway));
    CHECK(fixture.gateway->health().alive());
}

TEST_CASE("a device that was stopped by a request is a warning until it is started", "[gateway][health]") {
    GatewayFixture fixture(made_device);
    CHECK(check_of(fixture.gateway->health(), "stopped").good);
    REQUIRE(fixture.gateway->command("made", DeviceCommand::stop));
    const HealthCheck stopped = check_of(fixture.gateway->health(), "stopped");
    CHECK(stopped.detail.starts_with("made has been stopped since 20"));
    CHECK(stopped.is_warning);
    CHECK(fixture.status().devices[0].is_stopped());
    REQUIRE(fixture.gateway->command("made", DeviceCommand::start));
    CHECK(check_of(fixture.gateway->health(), "stopped").good);
}

TEST_CASE("the checks of a gateway are those that a request can name, in their order", "[gateway][health]") {
    const ScratchDir folder;
    GatewayFixture fixture("[log]\npath = " + folder.path("log") + '\n' + made_device);
    auto next = health_check_names.begin();
    for (const HealthCheck& check : fixture.gateway->health().checks) {
        CAPTURE(check.name);
        next = std::find(next, health_check_names.end(), check.name);
        REQUIRE(next != health_check_names.end());
        ++next;
    }
}

TEST_CASE("an endpoint that could not accept a connection is reported for a while", "[gateway][health]") {
    ManualClock clock;
    EndpointTrouble trouble(clock);
    MonitorEvent event{};
    event.endpoint = "tcp://127.0.0.1:5556";
    event.detail = "Too many open files";
    event.kind = MonitorEventKind::refused;
    trouble.record(event);
    CHECK(trouble.check().good);
    event.kind = MonitorEventKind::accept_failed;
    trouble.record(event);
    CHECK(trouble.check().detail == "tcp://127.0.0.1:5556 cannot accept connections: Too many open files");
    CHECK_FALSE(trouble.check().good);
    CHECK_FALSE(trouble.check().vital);
    clock.advance(EndpointTrouble::remembered_for);
    CHECK(trouble.check().good);
}

TEST_CASE("a device that loses samples because the queue is full is reported for a while", "[gateway][health]") {
    ManualClock clock;
    ChannelTable channels;
    BoundedQueue<TelemetrySample> queue(1);
    Ledger ledger(1, channels);
    QueueWaker waker;
    Sampler sampler(clock, channels, {queue, ledger, waker});
    DeviceOptions options;
    options.name = "flooding";
    Script script{.channels = {"a", "b"}};
    sampler.add(std::move(options), std::make_unique<ScriptedDriver>(script));
    CHECK(check_queue(sampler, clock.mono_now()).good);
    sampler.step(clock.mono_now());
    const HealthCheck check = check_queue(sampler, clock.mono_now());
    CHECK(check.detail == "flooding is losing samples: the queue is full");
    CHECK_FALSE(check.vital);
    CHECK(check_queue(sampler, clock.mono_now() + loss_remembered_for).good);
}

TEST_CASE("an endpoint that refused subscriptions is reported for a while", "[gateway][health]") {
    ManualClock clock;
    EndpointTrouble trouble(clock);
    MonitorEvent event{};
    event.endpoint = "tcp://127.0.0.1:5556";
    event.kind = MonitorEventKind::disconnected;
    event.detail = "peer disconnected";
    trouble.record(event);
    CHECK(trouble.check().good);
    event.detail = too_many_subscriptions;
    trouble.record(event);
    CHECK(trouble.check().detail == "tcp://127.0.0.1:5556 cannot accept subscriptions: too many subscriptions");
    clock.advance(EndpointTrouble::remembered_for);
    CHECK(trouble.check().good);
}

TEST_CASE("a gateway whose log cannot be written is not ready, and says which", "[gateway][health]") {
    const ScratchDir folder;
    const std::string path = folder.path("a");
    std::ofstream(path) << "text";  // in the place of the directory
    GatewayFixture fixture("[log]\npath = " + path + '\n' + made_device);
    REQUIRE(becomes_bad(*fixture.gateway, "log"));
    const Health health = fixture.gateway->health();
    CHECK(check_of(health, "log").detail.starts_with(path + " cannot be written: "));
    CHECK_FALSE(health.ready());
    CHECK(health.alive());
    std::filesystem::remove(path);
    CHECK(recovers(*fixture.gateway));
}

TEST_CASE("a format without a free place is not ready, and the client with the most is named", "[gateway][health]") {
    ManualClock clock;
    EndpointTrouble trouble(clock);
    trouble.set_crowd(PayloadFormat::json, "json has no free place");
    CHECK(trouble.check().detail == "json has no free place");
    CHECK_FALSE(trouble.check().is_warning);
    trouble.set_crowd(PayloadFormat::json, "");
    CHECK(trouble.check().good);
    trouble.record({.kind = MonitorEventKind::refused,
                    .endpoint = "tcp://127.0.0.1:5556",
                    .peer = "192.0.2.7:1",
                    .detail = too_many_connections});
    CHECK(trouble.check().detail ==
          "tcp://127.0.0.1:5556 cannot accept connections: too many connections (192.0.2.7:1)");
}
