#include "state/state_file.hpp"
#include "state/saved_file.hpp"

#include "base/setting_failure.hpp"
#include "config/load.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

using namespace telegate;

namespace {

constexpr uid_t other_user = 65'534;

struct Scratch {
    Scratch() : log(LogOptions{.file = dir.path("log")}) {}

    [[nodiscard]] bool has(const std::string& name) const {
        return std::filesystem::exists(std::filesystem::symlink_status(dir.path(name)));
    }
    /// Runs a gateway from start to stop. Returns its epoch.
    std::int64_t run(std::int64_t now_ms, const std::string& name = "state", std::int64_t logged_ms = 0) {
        StateFile file(dir.path(name), log);
        const std::int64_t epoch = file.choose_epoch(now_ms, logged_ms);
        file.begin(epoch);
        file.end({{"a/b", 7}}, 100, {.time_utc_ms = epoch + 1, .counts = {.sampled = 100, .published = 100}});
        return epoch;
    }

    test::ScratchDir dir;
    Log log;
};

/// Runs as a user other than root while it exists, so that file permissions apply. Does nothing if the user is not
/// root.
class WithoutRoot {
  public:
    explicit WithoutRoot(const std::string& folder) {
        if (::geteuid() == 0) {
            REQUIRE(::chmod(folder.c_str(), 0777) == 0);
            REQUIRE(::seteuid(other_user) == 0);
        }
    }
    ~WithoutRoot() {
        if (::getuid() == 0) {
            CHECK(::seteuid(0) == 0);
        }
    }
    WithoutRoot(const WithoutRoot&) = delete;
    WithoutRoot& operator=(const WithoutRoot&) = delete;
};

TEST_CASE("the last numbers of a run that was killed can be learned later, those of other runs cannot",
          "[gateway][state]") {
    Scratch scratch;
    {
        StateFile file(scratch.dir.path("state"), scratch.log);
        file.begin(1'000);
        file.end({{"d/a", 5}}, 5, {.time_utc_ms = 1'001, .counts = {.sampled = 5, .published = 5}});
    }
    {
        StateFile file(scratch.dir.path("state"), scratch.log);
        file.begin(2'000);
    }
    {
        StateFile file(scratch.dir.path("state"), scratch.log);
        for (const std::int64_t epoch_ms : {1'000, 2'000, 3'000}) {
            file.learn(epoch_ms, {{"d/a", 9}});
        }
        file.begin(4'000);
    }
    StateFile file(scratch.dir.path("state"), scratch.log);
    file.begin(5'000);
    CHECK(file.find(1'000)->last_seqs.at("d/a") == 5);
    CHECK(file.find(2'000)->last_seqs.at("d/a") == 9);
    CHECK_FALSE(file.find(2'000)->has_ended);
    CHECK(file.after(1'000) == 2'000);
    CHECK(file.after(4'000) == 5'000);
    CHECK(file.after(5'000) == 0);
    CHECK(file.after(3'000) == 0);
}

}  // namespace

TEST_CASE("an epoch is the time of the start while the clock moves forward", "[gateway][services][state_file]") {
    Scratch scratch;
    CHECK(scratch.run(1'000) == 1'000);
    CHECK(scratch.run(2'000) == 2'000);
    CHECK(scratch.dir.read("log").empty());
}

TEST_CASE("if the clock has gone back, no epoch is lost or used twice", "[gateway][services][state_file]") {
    Scratch scratch;
    CHECK(scratch.run(5'000) == 5'000);
    CHECK(scratch.run(5'000) == 5'001);
    CHECK(scratch.run(0) == 5'002);
    const StateFile file(scratch.dir.path("state"), scratch.log);
    for (const std::int64_t epoch : {5'000, 5'001, 5'002}) {
        REQUIRE(file.find(epoch) != nullptr);
        CHECK(file.find(epoch)->last_seqs.at("a/b") == 7);
    }
    CHECK_THAT(scratch.dir.read("log"), Catch::Contains("last_epoch=5001 now=0 epoch=5002"));
}

TEST_CASE("an epoch is later than those of the logs, with or without a state file", "[gateway][services][state_file]") {
    Scratch scratch;
    CHECK(scratch.run(0, "state", 7'000) == 7'001);
    CHECK(scratch.run(0, "state", 3'000) == 7'002);
    CHECK(StateFile("", scratch.log).choose_epoch(0, 7'000) == 7'001);
    CHECK(StateFile("", scratch.log).choose_epoch(8'000, 7'000) == 8'000);
}

TEST_CASE("only one gateway can use a state file, whatever its name", "[gateway][services][state_file]") {
    Scratch scratch;
    std::filesystem::create_symlink("state", scratch.dir.path("link"));
    std::optional<StateFile> first;
    first.emplace(scratch.dir.path("state"), scratch.log);
    for (const char* name : {"state", "link"}) {
        CHECK_THROWS_WITH(StateFile(scratch.dir.path(name), scratch.log),
                          Catch::Contains("state_file: ") && Catch::Contains("is in use by another gateway"));
        CHECK_THROWS_AS(StateFile(scratch.dir.path(name), scratch.log), SettingsError);
    }
    first.reset();
    CHECK_NOTHROW(StateFile(scratch.dir.path("link"), scratch.log));
}

TEST_CASE("a broken file does not replace an older broken one", "[gateway][services][state_file]") {
    Scratch scratch;
    for (std::size_t i = 1; i <= broken_files_max + 1; ++i) {
        scratch.dir.write("state", "broken " + std::to_string(i));
        scratch.run(static_cast<std::int64_t>(i));
    }
    CHECK(scratch.dir.read("state.broken") == "broken 1");
    CHECK(scratch.dir.read("state.broken2") == "broken 2");
    CHECK(scratch.dir.read("state.broken8") == "broken 9");
    CHECK_FALSE(scratch.has("state.broken9"));
    CHECK_THAT(scratch.dir.read("log"), Catch::Contains("state.broken8 replaced=true"));
}

TEST_CASE("a file that cannot be read is kept and reported", "[gateway][services][state_file]") {
    Scratch scratch;
    scratch.run(1'000);
    const std::string before = scratch.dir.read("state");
    REQUIRE(::chmod(scratch.dir.path("state").c_str(), 0) == 0);
    REQUIRE(::unlink(scratch.dir.path("state.lock").c_str()) == 0);
    {
        const WithoutRoot other(scratch.dir.path());
        CHECK_THROWS_WITH(StateFile(scratch.dir.path("state"), scratch.log),
                          Catch::StartsWith("[gateway] state_file: ") && Catch::Contains("Permission denied"));
    }
    REQUIRE(::chmod(scratch.dir.path("state").c_str(), 0600) == 0);
    CHECK(scratch.dir.read("state") == before);
    CHECK_FALSE(scratch.has("state.broken"));
}

TEST_CASE("a symbolic link is followed and kept", "[gateway][services][state_file]") {
    Scratch scratch;
    std::filesystem::create_directory(scratch.dir.path("data"));
    std::filesystem::create_symlink("data/real", scratch.dir.path("state"));
    scratch.run(1'000);
    scratch.run(2'000);
    CHECK(std::filesystem::is_symlink(scratch.dir.path("state")));
    CHECK_THAT(scratch.dir.read("data/real"), Catch::Contains("1000") && Catch::Contains("2000"));
}

TEST_CASE("a symbolic link of another user is not followed", "[gateway][services][state_file]") {
    Scratch scratch;
    scratch.dir.write("precious", "kept");
    std::filesystem::create_symlink("precious", scratch.dir.path("state"));
    if (::lchown(scratch.dir.path("state").c_str(), other_user, other_user) != 0) {
        WARN("only root can create a link owned by another user");
        return;
    }
    CHECK_THROWS_AS(StateFile(scratch.dir.path("state"), scratch.log), SettingFailure);
    CHECK(scratch.dir.read("precious") == "kept");
}

TEST_CASE("links that refer to each other are refused", "[gateway][services][state_file]") {
    Scratch scratch;
    std::filesystem::create_symlink("b", scratch.dir.path("a"));
    std::filesystem::create_symlink("a", scratch.dir.path("b"));
    CHECK_THROWS_AS(StateFile(scratch.dir.path("a"), scratch.log), SettingFailure);
}

TEST_CASE("a missing folder is reported and does not stop the gateway", "[gateway][services][state_file]") {
    Scratch scratch;
    CHECK(scratch.run(1'000, "missing/state") == 1'000);
    CHECK_THAT(scratch.dir.read("log"), Catch::Contains("cannot lock state file") && Catch::Contains("cannot write"));
}

TEST_CASE("the number of samples published since a past epoch is known if all epochs ended cleanly",
          "[gateway][services][state_file]") {
    Scratch scratch;
    for (const std::int64_t start : {1'000, 2'000}) {
        scratch.run(start);  // publishes 100 samples
    }
    {
        StateFile file(scratch.dir.path("state"), scratch.log);
        file.begin(3'000);
        CHECK(file.published_from(1'000, 90, 3'000) == 10 + 100);
        CHECK(file.published_from(1'000, 90, 2'000) == 10);
        CHECK(file.published_from(1'000, 0, 1'000) == 0);
        CHECK(file.published_from(2'000, 100, 3'000) == 0);
        CHECK(file.published_from(2'000, 151, 3'000) == 0);
        CHECK(file.published_from(3'000, 1, 3'000) == 0);
        CHECK(file.published_from(1'500, 1, 3'000) == std::nullopt);
    }
    StateFile file(scratch.dir.path("state"), scratch.log);  // after a run that was killed
    file.begin(4'000);
    CHECK(file.published_from(2'000, 100, 4'000) == std::nullopt);
    CHECK(file.published_from(3'000, 1, 4'000) == std::nullopt);
}

TEST_CASE("the next run reports a killed run with its last known numbers", "[gateway][state_file]") {
    Scratch scratch;
    scratch.run(1'000);
    CHECK(scratch.dir.read("log").empty());
    {
        StateFile file(scratch.dir.path("state"), scratch.log);
        file.begin(2'000);
        CHECK(file.record({.time_utc_ms = 62'000, .counts = {.sampled = 7, .published = 5, .queued = 2}}) > 0);
    }
    {
        StateFile file(scratch.dir.path("state"), scratch.log);
        file.begin(90'000);
    }
    CHECK_THAT(scratch.dir.read("log"),
               Catch::Contains("previous run did not stop cleanly epoch=2000 started=1970-01-01T00:00:02.000000000Z "
                               "last_known=1970-01-01T00:01:02.000000000Z sampled=7 published=5 filtered=0 queued=2 "));
    StateFile file(scratch.dir.path("state"), scratch.log);
    file.begin(95'000);
    CHECK_THAT(scratch.dir.read("log"), Catch::Contains("epoch=90000") && Catch::Contains("last_known=none"));
    const std::vector<PreviousRun> starts = file.previous_runs();
    REQUIRE(starts.size() == 3);
    CHECK((starts[0].has_ended && starts[0].ledger.value().counts.published == 100));
    CHECK((!starts[1].has_ended && starts[1].ledger.value().counts.queued == 2));
    CHECK((!starts[2].has_ended && !starts[2].ledger));
}
