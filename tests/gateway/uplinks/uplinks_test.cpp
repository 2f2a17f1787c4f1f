#include "uplinks/uplinks.hpp"

#include "core/clock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/manual_clock.hpp"
#include "support/scratch_dir.hpp"

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace telegate {
namespace {

/// Called on the thread of an uplink when it ends.
std::function<void()> at_close;

/// A back end that never responds.
class SilentAdapter final : public uplink::Adapter {
  public:
    void connect() override {}
    void send(const uplink::OutgoingMessage& /*message*/, std::uint64_t /*number*/) override {}
    void check() override {}
    void close() override {
        if (at_close) {
            at_close();
        }
    }
};

/// The options of the last silent adapter.
std::string last_subjects;
std::string last_gateway;

std::unique_ptr<uplink::Adapter> make_silent(uplink::AdapterLoop& /*loop*/, uplink::AdapterOptions options,
                                             uplink::Adapter::Events /*events*/) {
    last_subjects = options.subjects;
    last_gateway = options.headers.at(0).second;
    return std::make_unique<SilentAdapter>();
}

constexpr uplink::AdapterModule silent_module{.version = "test", .make = make_silent};

/// Reads its files and reports why they cannot be read.
class ReadingAdapter final : public uplink::Adapter {
  public:
    ReadingAdapter(uplink::AdapterOptions options, Events events)
        : options_(std::move(options)), events_(std::move(events)) {}
    void connect() override {
        try {
            (void)options_.secrets();
        } catch (const std::exception& error) {
            events_.down(error.what(), false);
        }
    }
    void send(const uplink::OutgoingMessage& /*message*/, std::uint64_t /*number*/) override {}
    void check() override {}
    void close() override {}

  private:
    const uplink::AdapterOptions options_;
    const Events events_;
};

std::unique_ptr<uplink::Adapter> make_reading(uplink::AdapterLoop& /*loop*/, uplink::AdapterOptions options,
                                              uplink::Adapter::Events events) {
    return std::make_unique<ReadingAdapter>(std::move(options), std::move(events));
}

constexpr uplink::AdapterModule reading_module{.version = "test", .make = make_reading};

UplinkOptions options_with(const uplink::AdapterModule& module, const std::string& url) {
    UplinkOptions options;
    options.runner.name = "cloud";
    options.module = &module;
    options.urls = {url};
    return options;
}

}  // namespace

TEST_CASE("a TLS file that is a pipe fails the connection of an uplink and does not block it", "[uplinks]") {
    const test::ScratchDir folder;
    const SystemClock clock;
    Log log("off");
    UplinkOptions options = options_with(reading_module, "tls://127.0.0.1");
    const std::string pipe = folder.path("pem");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    uplink::AdapterSecrets& files = options.files;
    for (uplink::AdapterFile* const file :
         {&files.credentials, &files.tls_ca, &files.tls_certificate, &files.tls_key}) {
        file->path = pipe;
        Uplinks uplinks({clock, log, folder.path(), {}}, {options});
        uplinks.start();
        uplinks.log_synced(1);
        const std::string reason = "read " + pipe + ": not a regular file: ";
        CHECK(test::eventually([&] { return uplinks.status().front().status.error.starts_with(reason); }));
        file->path.clear();
    }
}

TEST_CASE("an uplink that delivers nothing is late, whatever happens to the wall clock", "[uplinks]") {
    const test::ScratchDir folder;
    test::ManualClock clock;
    Log log("off");
    const UplinkOptions options = options_with(silent_module, "nats://127.0.0.1");
    Uplinks uplinks({clock, log, folder.path(), {}}, {options});
    uplinks.start();
    uplinks.log_synced(1);
    CHECK(test::eventually([&] { return uplinks.status().front().status.is_behind; }));
    clock.step_utc(-std::chrono::hours(24));
    clock.advance(std::chrono::seconds(61));
    CHECK(uplinks.status().front().is_late());
}

TEST_CASE("an uplink that is replaced protects the log until its successor does", "[uplinks]") {
    const test::ScratchDir folder;
    const SystemClock clock;
    Log log("off");
    const UplinkOptions options = options_with(silent_module, "nats://127.0.0.1");
    Uplinks uplinks({clock, log, folder.path(), {}}, {options});
    uplinks.start();
    CHECK(uplinks.keep_from() == 0);
    std::atomic<int> ends = 0;
    std::atomic<store::Position> kept = 0;
    at_close = [&] {
        ++ends;
        kept = uplinks.keep_from();
    };
    uplinks.change({options}, [](const std::string&) { return true; });
    CHECK(ends == 1);
    CHECK(kept == 0);
    CHECK(uplinks.keep_from() == 0);
    uplinks.change({}, [](const std::string&) { return true; });
    CHECK(ends == 2);
    CHECK(uplinks.keep_from() == store::position_max);
    at_close = {};
}

TEST_CASE("an uplink has the name of the gateway in its subject and its headers, and a new one after a change",
          "[uplinks]") {
    const test::ScratchDir folder;
    const SystemClock clock;
    Log log("off");
    UplinkOptions options = options_with(silent_module, "nats://127.0.0.1");
    options.messages.subject = "plant.{gateway}";
    Uplinks uplinks({clock, log, folder.path(), std::make_shared<const Labels>("press.7")}, {options});
    CHECK(last_subjects == "plant.press_7");
    CHECK(last_gateway == "press.7");
    uplinks.set_labels(std::make_shared<const Labels>("press-8"));
    uplinks.change({options}, [](const std::string&) { return true; });
    CHECK(last_subjects == "plant.press-8");
    CHECK(last_gateway == "press-8");
}

TEST_CASE("an uplink whose thread does not stop is abandoned, and its successor waits for the end", "[uplinks]") {
    const test::ScratchDir folder;
    const SystemClock clock;
    Log log("off");
    const UplinkOptions options = options_with(silent_module, "nats://127.0.0.1");
    std::promise<void> gate;
    at_close = [opened = gate.get_future().share()] {
        opened.wait();
    };
    {
        Uplinks uplinks({clock, log, folder.path(), {}, std::chrono::milliseconds(500)}, {options});
        uplinks.start();
        const auto always = [](const std::string&) {
            return true;
        };
        uplinks.change({options}, always);
        CHECK(uplinks.abandoned_count() == 1);
        CHECK(uplinks.has_abandoned());
        CHECK(uplinks.keep_from() == 0);
        CHECK(uplinks.status().front().status.error.starts_with("waits for the end of its previous thread"));
        const auto is_behind = [&] {
            uplinks.log_synced(1);
            return uplinks.status().front().status.is_behind;
        };
        CHECK_FALSE(is_behind());
        gate.set_value();
        CHECK(test::eventually([&] { return !uplinks.has_abandoned(); }));
        CHECK(test::eventually(is_behind));
        CHECK(uplinks.abandoned_count() == 1);
        CHECK(uplinks.status().front().status.error.empty());
    }
    at_close = {};
}

TEST_CASE("a command that an uplink does not finish in time is late", "[uplinks]") {
    const test::ScratchDir folder;
    const SystemClock clock;
    Log log("off");
    Uplinks uplinks({clock, log, folder.path(), {}}, {options_with(silent_module, "nats://127.0.0.1")});
    uplinks.start();
    std::promise<void> gate;
    const auto wait = [opened = gate.get_future().share()](uplink::UplinkRunner&) {
        opened.wait();
        return UplinkResult::done;
    };
    CHECK(uplinks.call("cloud", wait) == UplinkResult::late);
    gate.set_value();
    CHECK(uplinks.call("cloud", wait) == UplinkResult::done);
}

}  // namespace telegate
