#include "events/event_keeper.hpp"

#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/scratch_dir.hpp"

#include <chrono>
#include <filesystem>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

/// The event-related parts of one run of a gateway.
struct KeeperRun {
    explicit KeeperRun(const ScratchDir& folder)
        : log(LogOptions{.file = folder.path("log")}), path(folder.path("events")) {
        keeper.start();
    }
    void add(const std::string& device, EventKind kind) {
        events.add({.time_utc_ns = clock.utc_now_ns(),
                    .device = device,
                    .kind = kind,
                    .fields = LogFields().add("text", "x")});
    }

    SystemClock clock;
    Log log;
    std::string path;
    EventLog events{clock, [this] {
                        keeper.wake();
                    }};
    EventKeeper keeper{events, log, path};
};

bool kept_text_has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("each event is one line in the log, at the level of its kind", "[gateway][events]") {
    const ScratchDir folder;
    KeeperRun run(folder);
    run.add("plc", EventKind::device_failed);
    run.add("plc", EventKind::device_recovered);
    run.add("plc", EventKind::device_failed);
    REQUIRE(eventually([&] { return kept_text_has(folder.read("log"), "device recovered device=plc text=x"); }));
    run.keeper.stop();
    const std::string log = folder.read("log");
    CHECK(kept_text_has(log, " warning device failed device=plc text=x\n"));
    CHECK(kept_text_has(log, " info device recovered device=plc text=x\n"));
    CHECK(log.find("device failed") != log.rfind("device failed"));
}

TEST_CASE("suppressed events are logged when the limit permits them, or counted at the stop", "[gateway][events]") {
    const ScratchDir folder;
    KeeperRun run(folder);
    for (int i = 0; i < 30; ++i) {
        run.add("plc", i % 2 == 0 ? EventKind::device_failed : EventKind::device_recovered);
    }
    CHECK(run.events.counts().suppressed > 0);
    // The last event was "recovered"; the log must not end with "failed".
    CHECK(eventually([&] {
        const std::string log = folder.read("log");
        return kept_text_has(log, "suppressed=") && log.rfind("device recovered") > log.rfind("device failed");
    }));
}

TEST_CASE("events are kept across restarts and logged only once", "[gateway][events]") {
    const ScratchDir folder;
    {
        KeeperRun run(folder);
        run.add("plc", EventKind::device_failed);
    }
    std::filesystem::remove(folder.path("log"));
    KeeperRun run(folder);
    REQUIRE(run.events.after(0).size() == 1);
    CHECK(run.events.after(0)[0].event->device == "plc");
    run.add("gps", EventKind::device_failed);
    run.keeper.stop();
    CHECK(run.events.after(0).size() == 2);
    CHECK_FALSE(kept_text_has(folder.read("log"), "device=plc"));
    CHECK(kept_text_has(folder.read("log"), "device=gps"));
}

TEST_CASE("events are in the file before the gateway stops", "[gateway][events]") {
    const ScratchDir folder;
    KeeperRun run(folder);
    run.add("plc", EventKind::device_failed);
    CHECK(eventually([&] { return kept_text_has(folder.read("events"), "\"device\":\"plc\""); }));
}

TEST_CASE("an acknowledgment is written to the file immediately", "[gateway][events]") {
    const ScratchDir folder;
    KeeperRun run(folder);
    run.add("plc", EventKind::alarm_raised);
    REQUIRE(eventually([&] { return kept_text_has(folder.read("events"), "alarm raised"); }));
    const auto begin = std::chrono::steady_clock::now();
    run.add("plc", EventKind::alarm_acknowledged);
    REQUIRE(eventually([&] { return kept_text_has(folder.read("events"), "alarm acknowledged"); }));
    CHECK(std::chrono::steady_clock::now() - begin < EventKeeper::write_interval);
}

TEST_CASE("a broken event file is renamed and reported", "[gateway][events]") {
    const ScratchDir folder;
    folder.write("events", "no JSON");
    KeeperRun run(folder);
    CHECK(run.events.after(0).empty());
    CHECK(folder.read("events.broken") == "no JSON");
    CHECK(kept_text_has(folder.read("log"),
                        "event file not used file=" + run.path + " reason=\"is not JSON in UTF-8, see byte 2\""));
}

TEST_CASE("an event file that cannot be written is reported", "[gateway][events]") {
    const ScratchDir folder;
    KeeperRun run(folder);
    std::filesystem::create_directory(folder.path("events.new"));
    run.add("plc", EventKind::device_failed);
    run.keeper.stop();
    CHECK(kept_text_has(folder.read("log"), "cannot write event file file=" + run.path));
}
