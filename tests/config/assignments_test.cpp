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

TEST_CASE("an assignment sets a key of a section, or a key of [gateway] without a section", "[config][set]") {
    CHECK(loaded({"queue.policy=block"}).queue_policy == "block");
    CHECK(loaded({"log_level=off"}).log_level == "off");
    CHECK(loaded({"gateway.sampling_interval_ms=1s"}).sampling_interval_ms == 1'000);
}

TEST_CASE("an assignment creates a section, whose name may contain dots", "[config][set]") {
    const Settings settings = loaded({"device.hall.2.driver=host", "device.hall.2.proc_root=/x=y.z"});
    REQUIRE(settings.devices.size() == 1);
    CHECK(settings.devices[0].name == "hall.2");
    CHECK(test::setting_of(settings.devices[0], "proc_root") == "/x=y.z");
}

TEST_CASE("the last of several assignments applies", "[config][set]") {
    CHECK(loaded({"queue_size=1", "gateway.queue_size=2"}).queue_size == 2);
}

TEST_CASE("an invalid assignment is reported with the reason", "[config][set]") {
    const auto [assignment, problem] = GENERATE(table<std::string, std::string>(
        {{"queue.policy", "not an assignment; must be SECTION.KEY=VALUE or SECTION.NAME.KEY=VALUE"},
         {"=5", "not an assignment; must be SECTION.KEY=VALUE or SECTION.NAME.KEY=VALUE"},
         {"qeue.policy=block", "unknown section: \"qeue\"; did you mean queue?"},
         {".policy=block",
          "unknown section: \"\"; must be one of gateway, sampling, queue, log, logging, rest, tags, publish, "
          "services, uplink, device, channel"},
         {"queue.polcy=block", "not a setting of [queue]; did you mean policy?"},
         {"policy=block", "not a setting of [gateway]; it belongs in [queue]"},
         {"queue.x.policy=block", "unexpected name: [queue] takes no name; must be queue.KEY=VALUE"},
         {"device.interval_ms=5", "no name given for device; must be device.NAME.KEY=VALUE"},
         {"device.A.driver=host", "invalid name: [device \"A\"]; must be 1 to 64 of the characters a-z 0-9 _ . -"},
         {"device.a.autostart=no", "driver: missing in [device \"a\"]; must be " + test::driver_names()},
         {"log_level=a\x1b", "unknown value: \"a\\x1b\"; must be one of trace, debug, info, warn, error, off"}}));
    const std::string shown = assignment == "log_level=a\x1b" ? "log_level=a\\x1b" : assignment;
    CHECK(ScratchFiles().problems({.assignments = {assignment}}) == "--set " + shown + ": " + problem);
}
