#include "uplinks/uplinks.hpp"

#include "core/clock.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <atomic>
#include <functional>
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

std::unique_ptr<uplink::Adapter> make_silent(uplink::AdapterLoop& /*loop*/, uplink::AdapterOptions /*options*/,
                                             uplink::Adapter::Events /*events*/) {
    return std::make_unique<SilentAdapter>();
}

constexpr uplink::AdapterModule silent_module{"test", make_silent};

}  // namespace

TEST_CASE("an uplink that is replaced protects the log until its successor does", "[uplinks]") {
    const test::ScratchDir folder;
    const SystemClock clock;
    Log log("off");
    UplinkOptions options;
    options.runner.name = "cloud";
    options.module = &silent_module;
    options.urls = {"nats://127.0.0.1"};
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

}  // namespace telegate
