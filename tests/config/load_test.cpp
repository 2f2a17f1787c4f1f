#include "config/load.hpp"

#include "config/problems.hpp"
#include "config/scratch_files.hpp"
#include "support/catch.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <tuple>

using namespace telegate;
using telegate::test::has;
using telegate::test::ScratchFiles;

namespace {

Settings load_file(const std::string& path) {
    return load_settings({.file = path}).settings;
}

std::string error_of(const std::string& path) {
    try {
        (void)load_file(path);
    } catch (const SettingsError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("problems name the file that was read", "[config][load]") {
    const ScratchFiles scratch;
    CHECK(load_file(scratch.write("a.ini", "queue_size = 9")).queue_size == 9);
    const std::string bad = scratch.write("b.ini", "\nqueue_size = x");
    CHECK(error_of(bad).starts_with(bad + ":2: queue_size: "));
}

TEST_CASE("a missing file is a problem", "[config][load]") {
    const ScratchFiles scratch;
    CHECK(error_of(scratch.path("none.ini")) ==
          scratch.path("none.ini") + ": cannot be read: No such file or directory");
}

TEST_CASE("a directory is not accepted as a file", "[config][load]") {
    const ScratchFiles scratch;
    CHECK(has(error_of(scratch.path("")), ": cannot be read: Is a directory"));
}

TEST_CASE("a file without read permission is a problem", "[config][load]") {
    const ScratchFiles scratch;
    const std::string path = scratch.write("a.ini", "queue_size = 9");
    REQUIRE(::chmod(path.c_str(), 0) == 0);
    if (::access(path.c_str(), R_OK) == 0) {
        CHECK(load_file(path).queue_size == 9);  // root can read everything
    } else {
        CHECK(has(error_of(path), ": cannot be read: Permission denied"));
    }
}

TEST_CASE("a file that could block the reader is not read", "[config][load]") {
    const ScratchFiles scratch;
    const std::string pipe = scratch.path("pipe.ini");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(error_of(pipe) == pipe + ": cannot be read: not a regular file");
    CHECK(error_of("/dev/zero") == "/dev/zero: cannot be read: not a regular file");
}

TEST_CASE("a file of 1 MiB is accepted, a larger one is refused", "[config][load]") {
    const ScratchFiles scratch;
    CHECK(error_of(scratch.write("a.ini", std::string(1024 * 1024, '\n'))).empty());
    CHECK(error_of(scratch.write("b.ini", std::string(1024 * 1024 + 1, '\n'))) ==
          scratch.path("b.ini") + ": file too large; must be at most 1048576 bytes");
}

TEST_CASE("the text of a problem omits a missing line or key", "[config][load]") {
    CHECK(SettingsProblem{.place = {"f", 3}, .key = "k", .what = "w"}.text() == "f:3: k: w");
    CHECK(SettingsProblem{.place = {"f", 3}, .key = "", .what = "w"}.text() == "f:3: w");
    CHECK(SettingsProblem{.place = {"f", 0}, .key = "", .what = "w"}.text() == "f: w");
}

TEST_CASE("the log levels are those of the settings table", "[config][load]") {
    CHECK(log_level_choices() == "one of trace, debug, info, warn, error, off");
    CHECK(is_log_level("off"));
    CHECK_FALSE(is_log_level("INFO"));
    CHECK_FALSE(is_log_level(""));
}

TEST_CASE("the shipped settings load and match the documentation", "[config][load]") {
    const Settings settings = load_file(TELEGATE_SOURCE_DIR "/config/gateway.ini");
    CHECK(settings.sampling_interval_ms == 100);
    CHECK(settings.queue_size == 0);
    CHECK(settings.queue_policy == "drop_oldest");
    CHECK(settings.log_level == "info");
    CHECK(settings.rest_host == "127.0.0.1");
    CHECK(settings.rest_port == 8080);
    REQUIRE(settings.publish.size() == 2);
    CHECK(settings.publish[0].endpoint == "tcp://127.0.0.1:5556");
    CHECK(settings.publish[1].endpoint == "ipc:///tmp/telegate-pub.ipc");
    REQUIRE(settings.devices.size() == 3);
    CHECK(settings.devices[0].driver == "host");
    CHECK(settings.devices[0].interval_ms == 1000);
    CHECK(settings.devices[1].driver == "gateway");
    CHECK(settings.devices[1].name == "gateway");
    CHECK(settings.devices[2].driver == "simulated");
    CHECK(settings.devices[2].interval_ms == 0);
}

TEST_CASE("the settings files for three kinds of deployment load and have the intended values", "[config][load]") {
    const auto [name, interval_ms, queue_size, log_level] =
        GENERATE(table<std::string, std::int64_t, std::int64_t, std::string>(
            {{"embedded", 200, 64, "error"}, {"high_frequency", 10, 512, "warn"}, {"cloud", 50, 2'048, "info"}}));
    CAPTURE(name);
    const Settings settings = load_file(TELEGATE_SOURCE_DIR "/config/" + name + ".ini");
    CHECK(settings.sampling_interval_ms == interval_ms);
    CHECK(settings.queue_size == queue_size);
    CHECK(settings.log_level == log_level);
    CHECK(settings.queue_policy == "drop_oldest");
    CHECK(settings.rest_host == "127.0.0.1");
    REQUIRE_FALSE(settings.publish.empty());
    CHECK(settings.publish.front().endpoint == "tcp://127.0.0.1:5556");
    REQUIRE_FALSE(settings.devices.empty());
    CHECK(settings.devices.back().name == "simulated");  // perf_tool footprint changes its settings
    CHECK(settings.devices.back().interval_ms == 0);
}
