#include "app/command_line.hpp"

#include "config/problems.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

using namespace telegate;
using telegate::test::has;
using telegate::test::ScratchDir;

namespace {

/// Returns the output of --read for a settings file with this text.
struct ReadBench : ScratchDir {
    std::ostringstream out;
    std::ostringstream errors;

    int read(const std::string& ini, ReadRequest request, const std::string& format = "text") {
        std::ofstream(path("a.ini")) << ini;
        out.str("");
        errors.str("");
        CommandLine line;
        line.sources.file = path("a.ini");
        line.purpose = Purpose::read;
        line.read = std::move(request);
        line.format = format;
        return read_device(line, out, errors);
    }
};

std::string command(const std::string& text) {
    return "[device \"tank\"]\ndriver = exec\nshell = yes\ninterval_ms = 1\ncommand = " + text + '\n';
}

}  // namespace

TEST_CASE("a reading prints every channel with value, unit and quality", "[gateway][read]") {
    ReadBench bench;
    const std::string ini =
        command("echo level=21.5 open=yes name=north none=") + "[channel \"tank/level\"]\nunit = Cel\nscale = 2\n";
    CHECK(bench.read(ini, {"tank"}) == exit_code::ok);
    CHECK(bench.errors.str().empty());
    const std::string shown = bench.out.str();
    CHECK(shown.starts_with("device tank, reading 1 of 1, 2"));
    CHECK(has(shown, "\nCHANNEL        VALUE  UNIT  QUALITY\n"));
    CHECK(has(shown, "\nlines.refused  0      1     good\n"));
    CHECK(has(shown, "\nlevel          43     Cel   good\n"));
    CHECK(has(shown, "\nopen           true         good\n"));
    CHECK(has(shown, "\nname           north        good\n"));
    CHECK(has(shown, "\nnone           -            bad\n"));
}

TEST_CASE("a failed reading prints the reason and sets the exit code", "[gateway][read]") {
    ReadBench bench;
    CHECK(bench.read(command("echo level=1; exit 3"), {"tank"}) == exit_code::unavailable);
    CHECK(has(bench.out.str(), "failed: "));
    CHECK(has(bench.out.str(), "exited with status 3"));
    CHECK(bench.read("[device \"tank\"]\ndriver = serial\nport = /nowhere\n", {"tank"}) == exit_code::unavailable);
    CHECK(has(bench.out.str(), "failed: /nowhere: No such file or directory\n"));
}

TEST_CASE("a device is read the requested number of times, each reading separately", "[gateway][read]") {
    ReadBench bench;
    const std::string ini =
        "[device \"s\"]\ndriver = simulated\nwaveforms = counter\ninterval_ms = 1\nerror_probability = 0\n";
    CHECK(bench.read(ini, {.device = "s", .count = 3}) == exit_code::ok);
    CHECK(has(bench.out.str(), "reading 1 of 3"));
    CHECK(has(bench.out.str(), "counter  1      1     good\ndevice s, reading 2 of 3"));
    CHECK(has(bench.out.str(), "counter  3      1     good\n"));
}

TEST_CASE("deadbands, rate limits and windows hide no value", "[gateway][read]") {
    ReadBench bench;
    const std::string keys =
        "deadband = 1000\nsend_interval_min_ms = 1h\nwindow_ms = 1h\nvalid_max = 20\nout_of_range = drop\n";
    CHECK(bench.read(command("echo level=21.5") + "[channel \"tank/level\"]\n" + keys, {"tank"}) == exit_code::ok);
    CHECK(has(bench.out.str(), "level          21.5         uncertain\n"));
}

TEST_CASE("each reading shows the state of an alarm", "[gateway][read]") {
    ReadBench bench;
    const std::string ini = command("echo level=21.5") + "[channel \"tank/level\"]\nalarm_high = 20\n";
    CHECK(bench.read(ini, {.device = "tank", .count = 2}) == exit_code::ok);
    const std::string shown = bench.out.str();
    CHECK(has(shown, "level.alarm    high         good\n"));
    CHECK(has(shown.substr(shown.find("reading 2 of 2")), "level.alarm    high         good\n"));
}

TEST_CASE("a channel section that matches no channel of the reading is reported", "[gateway][read]") {
    ReadBench bench;
    CHECK(bench.read(command("echo level=1") + "[channel \"tank/levle\"]\nscale = 2\n", {"tank"}) == exit_code::ok);
    CHECK(bench.errors.str() == "warning: " + bench.path("a.ini") +
                                    ":6: channel \"tank/levle\": no reading contained a channel with this name; did "
                                    "you mean \"level\"?\n");
}

TEST_CASE("an unknown device is a usage error that names the nearest one", "[gateway][read]") {
    ReadBench bench;
    CHECK(bench.read(command("true"), {"tnak"}) == exit_code::usage);
    CHECK(bench.errors.str() == "gateway_app: --read: unknown device \"tnak\"; did you mean \"tank\"?\n");
    CHECK(bench.read(command("true"), {"boiler"}) == exit_code::usage);
    CHECK(bench.errors.str() == "gateway_app: --read: unknown device \"boiler\"; configured devices: tank\n");
}

TEST_CASE("with invalid settings no device is read", "[gateway][read]") {
    ReadBench bench;
    CHECK_THROWS_AS(bench.read("queue_size = x\n", {"tank"}), SettingsError);
}

TEST_CASE("with JSON output a reading is one object per line", "[gateway][read]") {
    ReadBench bench;
    CHECK(bench.read(command("echo level=21.5"), {.device = "tank", .count = 2}, "json") == exit_code::ok);
    const std::string shown = bench.out.str();
    const auto document = nlohmann::json::parse(shown.substr(0, shown.find('\n')));
    CHECK(document["device"] == "tank");
    CHECK(document["reading"] == 1);
    CHECK(document["failed"] == false);
    CHECK(document["error"].is_null());
    CHECK(document["channels"]["level"]["value"] == 21.5);
    CHECK(document["channels"]["level"]["quality"] == "good");
    CHECK(document["channels"]["level"]["samples"] == 1);
    CHECK(std::count(shown.begin(), shown.end(), '\n') == 2);
}
