#include "sampler_harness.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "threads_harness.hpp"

#include <limits>
#include <mutex>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// Keeps what an observer of a sampler receives.
class KeptNews {
  public:
    struct Item {
        DeviceNews news;  // the texts of `news` are in the members below
        std::string device;
        std::string why;
    };

    explicit KeptNews(Sampler& sampler) {
        sampler.observe_with([this](const DeviceNews& news) {
            const std::lock_guard lock(mutex_);
            items_.push_back({news, std::string(news.device), std::string(news.why)});
        });
    }

    [[nodiscard]] std::vector<Item> items() const {
        const std::lock_guard lock(mutex_);
        return items_;
    }
    [[nodiscard]] std::vector<DeviceTransition> transitions() const {
        std::vector<DeviceTransition> result;
        for (const Item& item : items()) {
            result.push_back(item.news.transition);
        }
        return result;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<Item> items_;
};

using Transitions = std::vector<DeviceTransition>;

}  // namespace

TEST_CASE("an outage is reported once at its beginning and once at its end, with its cost", "[device][news]") {
    SamplerHarness h;
    Script script{.channels = {"a", "b"}, .answers = 0};
    (void)h.add(script, device_options("plc"));
    const KeptNews kept(h.sampler);
    script.answers = 2;
    h.step();
    script.fails_with = "no response";
    script.answers = 0;
    for (int i = 0; i < 3; ++i) {
        h.step_after(1s);
    }
    script.fails_with = nullptr;
    script.answers = 2;
    h.step_after(1s);
    h.step_after(1s);
    REQUIRE(kept.transitions() == Transitions{DeviceTransition::failed, DeviceTransition::recovered});
    CHECK(kept.items()[0].device == "plc");
    CHECK(kept.items()[0].why == "no response");
    CHECK(kept.items()[1].news.outage == 3s);
    CHECK(kept.items()[1].news.reads_failed == 3);
    CHECK(kept.items()[1].news.samples_missed == 3 * 2);
}

TEST_CASE("a device that never recovers is reported as safe once", "[device][news]") {
    SamplerHarness h;
    Script script{.fails_with = "no response"};
    DeviceOptions options = device_options("plc");
    options.errors_before_safe = 2;
    const DeviceId device = h.add(script, options);
    const KeptNews kept(h.sampler);
    for (int i = 0; i < 5; ++i) {
        h.step_after(1s);
    }
    CHECK(kept.transitions() == Transitions{DeviceTransition::failed, DeviceTransition::safe});
    CHECK(h.sampler.status(device).outages == 1);
}

TEST_CASE("commands are reported if they change the state", "[device][news]") {
    SamplerHarness h;
    Script script;
    const DeviceId device = h.add(script, device_options("plc"));
    const KeptNews kept(h.sampler);
    h.command(device, DeviceCommand::start);
    h.command(device, DeviceCommand::stop);
    h.command(device, DeviceCommand::stop);
    h.command(device, DeviceCommand::start);
    CHECK(kept.transitions() == Transitions{DeviceTransition::stopped, DeviceTransition::started});
}

TEST_CASE("device changes are reported, and an outage ends with its driver", "[device][news]") {
    SamplerHarness h;
    Script bad{.fails_with = "no response"};
    Script good;
    (void)h.add(bad, device_options("plc"));
    const KeptNews kept(h.sampler);
    h.step();
    const auto change_to = [&](DeviceChange change) {
        h.sampler.apply(*h.sampler.prepare(std::move(change)));
        h.step_after(1s);
    };
    DeviceChange other_driver;
    other_driver.set.push_back({device_options("plc"), std::make_unique<ScriptedDriver>(good)});
    change_to(std::move(other_driver));
    DeviceChange none;
    none.removed = {"plc"};
    change_to(std::move(none));
    DeviceChange back;
    back.set.push_back({device_options("plc"), std::make_unique<ScriptedDriver>(good)});
    change_to(std::move(back));
    CHECK(kept.transitions() == Transitions{DeviceTransition::failed, DeviceTransition::changed,
                                            DeviceTransition::removed, DeviceTransition::added});
}

TEST_CASE("a breaker is reported when it first opens, and when it closes", "[device][news][breaker]") {
    ThreadsHarness h;
    h.buses[0].fails_with = "no response";
    DeviceOptions options = device_options("bus", 1ms);
    options.breaker = {.failures = 3, .wait = 2ms, .wait_max = 2ms};
    const DeviceId device = h.sampler.add(std::move(options), std::make_unique<WaitingDriver>(h.buses[0]));
    const KeptNews kept(h.sampler);
    h.threads.start();
    REQUIRE(eventually([&] { return h.status(device).consecutive_failures > 6; }));
    h.buses[0].fails_with = nullptr;
    REQUIRE(eventually([&] { return h.status(device).state == DeviceState::measuring; }));
    h.threads.stop();
    REQUIRE(kept.transitions() == Transitions{DeviceTransition::failed, DeviceTransition::breaker_opened,
                                              DeviceTransition::recovered, DeviceTransition::breaker_closed});
    CHECK(kept.items()[1].news.reads_failed == 3);
    CHECK(kept.items()[1].news.retry_after > 0ns);
}

TEST_CASE("a device reports since when it has been in its state, and when it was last good and bad", "[device][news]") {
    SamplerHarness h;
    Script script;
    const DeviceId device = h.add(script, device_options("plc"));
    const std::int64_t added_ns = h.clock.utc_now_ns();
    h.step();
    h.step_after(1s);
    const std::int64_t good_ns = h.clock.utc_now_ns();
    CHECK(h.sampler.status(device).state_since_utc_ns == added_ns);
    CHECK(h.sampler.status(device).last_error_utc_ns == 0);
    script.fails_with = "no response";
    h.step_after(1s);
    const std::int64_t failed_ns = h.clock.utc_now_ns();
    h.step_after(1s);
    const DeviceStatus failed = h.sampler.status(device);
    CHECK(failed.state_since_utc_ns == failed_ns);
    CHECK(failed.last_good_utc_ns == good_ns);
    CHECK(failed.last_error_utc_ns == h.clock.utc_now_ns());
    CHECK(failed.is_error_current);
    CHECK(failed.outages == 1);
}

TEST_CASE("the last error is not current after the device has recovered", "[device][news]") {
    SamplerHarness h;
    Script script{.fails_with = "no response"};
    const DeviceId device = h.add(script, device_options("plc"));
    h.step();
    CHECK(h.sampler.status(device).is_error_current);
    script.fails_with = nullptr;
    script.partly_with = "unit 3: no response";
    h.step_after(1s);
    CHECK(h.sampler.status(device).is_error_current);
    script.partly_with = nullptr;
    h.step_after(1s);
    CHECK(h.sampler.status(device).last_error == "unit 3: no response");
    CHECK_FALSE(h.sampler.status(device).is_error_current);
}

TEST_CASE("bad samples are counted per device, from failed readings and from single channels", "[device][news]") {
    SamplerHarness h;
    Script script{.channels = {"a", "b", "c"}};
    const DeviceId device = h.add(script, device_options("plc"));
    h.step();
    CHECK(h.sampler.status(device).samples_bad == 0);
    script.on_read = [](SampleBatch& batch) {
        batch.add(SampleBatch::Channel{1}, std::string_view("broken"), Quality::bad);
        batch.add_absent(SampleBatch::Channel{2});
        batch.add(SampleBatch::Channel{2}, std::numeric_limits<double>::infinity());
    };
    h.step_after(1s);
    CHECK(h.sampler.status(device).samples_bad == 3);
    script.on_read = [](SampleBatch&) {
    };
    script.answers = 1;
    script.fails_with = "no response";
    h.step_after(1s);
    CHECK(h.sampler.status(device).samples_bad == 5);
}

TEST_CASE("a streaming device was last good when it last gave samples", "[device][news]") {
    ThreadsHarness h;
    h.buses[0].streams = true;
    h.buses[0].samples = 0;
    const DeviceId device = h.add(h.buses[0]);
    h.threads.start();
    REQUIRE(eventually([&] { return h.status(device).reads > 3; }));
    h.threads.stop();
    CHECK(h.status(device).last_good_utc_ns == 0);
    h.buses[0].samples = 1;
    h.threads.start();
    CHECK(eventually([&] { return h.status(device).last_good_utc_ns > 0; }));
}
