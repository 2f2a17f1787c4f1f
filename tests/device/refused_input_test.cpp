#include "sampler_harness.hpp"
#include "support/catch.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

struct RefusingDevice {
    RefusingDevice() {
        script.on_read = [this](SampleBatch& batch) {
            for (const std::string& line : lines) {
                batch.refused("not a number", line);
            }
        };
    }
    SamplerHarness h;
    Script script;
    std::vector<std::string> lines;
};

}  // namespace

TEST_CASE("refused input of a device is in its status, with reason and time", "[device][sampler]") {
    RefusingDevice d;
    const DeviceId id = d.h.add(d.script, device_options("d"));
    d.h.step();
    CHECK(d.h.sampler.status(id).refused == 0);
    CHECK(d.h.sampler.status(id).last_refused.empty());
    d.lines = {"first", "second"};
    d.h.step_after(std::chrono::seconds(1));
    const std::int64_t then = d.h.clock.utc_now_ns();
    d.lines.clear();
    d.h.step_after(std::chrono::seconds(1));
    CHECK(d.h.sampler.status(id).refused == 2);
    CHECK(d.h.sampler.status(id).last_refused == "not a number: \"second\"");
    CHECK(d.h.sampler.status(id).last_refused_utc_ns == then);
    CHECK(d.h.state(id) == DeviceState::measuring);
    d.h.command(id, DeviceCommand::reset);
    CHECK(d.h.sampler.status(id).last_refused.empty());
    CHECK(d.h.sampler.status(id).refused == 2);
}

TEST_CASE("each refusal is reported with its device", "[device][sampler]") {
    RefusingDevice d;
    std::vector<std::string> told;
    d.h.sampler.on_refused(
        [&](const std::string& device, std::string_view words) { told.push_back(device + ' ' + std::string(words)); });
    const DeviceId id = d.h.add(d.script, device_options("d"));
    d.lines = {"first", std::string(50, 'x')};
    d.h.step();
    CHECK(told ==
          std::vector<std::string>{"d not a number: \"first\"", "d not a number: \"" + std::string(40, 'x') + '"'});
    CHECK(d.h.sampler.status(id).refused == 2);
    CHECK(d.h.sampler.status(id).reads == 1);
}
