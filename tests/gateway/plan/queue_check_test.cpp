#include "plan/checks.hpp"

#include "config/problems.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <fstream>
#include <string>
#include <vector>

using namespace telegate;
using telegate::test::has;
using telegate::test::ScratchDir;

namespace {

/// Five devices with 400 channels each, read once a second.
const std::string site_settings =
    "[device \"d%d\"]\ndriver = simulated\nwaveforms = sine, ramp, square, noise\ncopies = 100\n"
    "interval_ms = 1000\ninstances = 1..5\n";

std::vector<std::string> queue_warnings_of(const std::string& ini) {
    const Settings settings = parse_settings(ini, "t.ini");
    std::vector<std::string> texts;
    for (const SettingsProblem& warning : queue_warnings(settings, make_plan(settings))) {
        texts.push_back(warning.text());
    }
    return texts;
}

}  // namespace

TEST_CASE("a queue that cannot hold one reading of each device gets a warning with a size that can",
          "[gateway][check]") {
    CHECK(queue_warnings_of("\nqueue_size = 1999\n" + site_settings) ==
          std::vector<std::string>{"t.ini:2: queue_size: 1999 is too small for one reading of each device, 2000 "
                                   "samples, so samples may be lost; use auto, or 8000"});
    CHECK(queue_warnings_of("queue_size = 2000\n" + site_settings).empty());
    CHECK(queue_warnings_of("queue_size = auto\n" + site_settings).empty());
    CHECK(queue_warnings_of(site_settings).empty());
}

TEST_CASE("channels in sections count if only the device knows all of its channels", "[gateway][check]") {
    const std::string device =
        "[device \"d\"]\ndriver = exec\ncommand = /bin/true\n[channel \"d/a\"]\nunit = V\n"
        "[channel \"d/b\"]\nunit = V\n";
    CHECK(queue_warnings_of("queue_size = 1\n" + device).size() == 1);
    CHECK(queue_warnings_of("queue_size = 2\n" + device).empty());
    const std::vector<std::string> shared = queue_warnings_of("queue_size = 4003\n" + site_settings + device);
    REQUIRE(shared.size() == 1);  // half of the queue is divided between two threads
    CHECK(has(shared[0], "2002 samples in half of the queue, "));
    CHECK(queue_warnings_of("queue_size = 4004\n" + site_settings + device).empty());
}

TEST_CASE("loading settings warns of a small queue", "[gateway][check]") {
    const ScratchDir scratch;
    const std::string path = scratch.path("a.ini");
    std::ofstream(path) << "queue_size = 100\n" + site_settings;
    const LoadedPlan loaded = load_plan({.file = path});
    REQUIRE(loaded.warnings.size() == 1);
    CHECK(has(loaded.warnings[0], "a.ini:1: queue_size: 100 is too small"));
}
