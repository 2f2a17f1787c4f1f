#include "config/problems.hpp"
#include "config/scratch_files.hpp"
#include "support/catch.hpp"
#include "support/driver_settings.hpp"

#include <tuple>

using namespace telegate;
using telegate::test::ScratchFiles;

namespace {

Settings loaded(const std::vector<std::string>& assignments) {
    return load_settings({.assignments = assignments}).settings;
}

}  // namespace

TEST_CASE("an assignment gives a setting of a section, or one of [gateway] by its key alone", "[config][set]") {
    CHECK(loaded({"queue.policy=block"}).queue_policy == "block");
    CHECK(loaded({"log_level=off"}).log_level == "off");
    CHECK(loaded({"gateway.sampling_interval_ms=1s"}).sampling_interval_ms == 1'000);
}

TEST_CASE("an assignment makes a section, whose name may hold points", "[config][set]") {
    const Settings settings = loaded({"device.hall.2.driver=host", "device.hall.2.proc_root=/x=y.z"});
    REQUIRE(settings.devices.size() == 1);
    CHECK(settings.devices[0].name == "hall.2");
    CHECK(test::setting_of(settings.devices[0], "proc_root") == "/x=y.z");
}

TEST_CASE("the last of several assignments holds", "[config][set]") {
    CHECK(loaded({"queue_size=1", "gateway.queue_size=2"}).queue_size == 2);
}

TEST_CASE("an assignment that cannot be had says why", "[config][set]") {
    const auto [assignment, problem] = GENERATE(table<std::string, std::string>(
        {{"queue.policy", "is not an assignment, allowed: SECTION.KEY=VALUE or SECTION.NAME.KEY=VALUE"},
         {"=5", "is not an assignment, allowed: SECTION.KEY=VALUE or SECTION.NAME.KEY=VALUE"},
         {"qeue.policy=block", "\"qeue\" is not a known section, did you mean queue?"},
         {".policy=block",
          "\"\" is not a known section, allowed: gateway, sampling, queue, log, rest, tags, publish, services, device, "
          "channel"},
         {"queue.polcy=block", "is not a setting of [queue], did you mean policy?"},
         {"policy=block", "is not a setting of [gateway], it belongs in [queue]"},
         {"queue.x.policy=block", "gives a name to [queue], which has none, allowed: queue.KEY=VALUE"},
         {"device.interval_ms=5", "names no device, allowed: device.NAME.KEY=VALUE"},
         {"device.A.driver=host", "[device \"A\"] has a bad name, allowed: 1 to 64 of the characters a-z 0-9 _ . -"},
         {"device.a.autostart=no", "driver: is missing in [device \"a\"], allowed: " + test::driver_names()},
         {"log_level=a\x1b", "\"a\\x1b\" is not a choice, allowed: trace, debug, info, warn, error, off"}}));
    const std::string shown = assignment == "log_level=a\x1b" ? "log_level=a\\x1b" : assignment;
    CHECK(ScratchFiles().problems({.assignments = {assignment}}) == "--set " + shown + ": " + problem);
}
