#include "log/log.hpp"

#include "log/log_level.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// A log in a file, without timestamps.
struct LogHarness {
    explicit LogHarness(const std::string& level) : log({.level = level, .file = path}) {}

    std::vector<std::string> lines() const {
        std::ifstream file(path);
        std::vector<std::string> all;
        for (std::string line; std::getline(file, line);) {
            all.push_back(line.substr(line.find(' ') + 1));
        }
        return all;
    }

    ScratchDir folder;
    const std::string path = folder.path("log");
    Log log;
    Reactor reactor;
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a repeated action is written again, while another repeated line is only counted", "[gateway][log]") {
    LogHarness h("info");
    for (int i = 0; i < 3; ++i) {
        CHECK(h.log.info_each("rest change path=/stop"));
        h.log.info("noise");
    }
    CHECK(h.lines() == Lines{"info rest change path=/stop", "info noise", "info rest change path=/stop",
                             "info rest change path=/stop"});
}

TEST_CASE("at level debug up to 60 lines a minute are written for each device", "[gateway][log]") {
    LogHarness h("debug");
    for (int i = 0; i < 100; ++i) {
        h.log.debug_limited("a", "refused number=" + std::to_string(i));
    }
    h.log.debug_limited("b", "refused by=b");
    REQUIRE(h.lines().size() == 61);
    CHECK(h.lines().front() == "debug refused number=0");
    CHECK(h.lines().back() == "debug refused by=b");
    h.log.set_level("info");
    CHECK_FALSE(h.log.has_debug());
    h.log.debug_limited("c", "refused by=c");
    CHECK(h.lines().size() == 61);
}

TEST_CASE("the return value tells whether the level permits an action", "[gateway][log]") {
    LogHarness h("warn");
    CHECK_FALSE(h.log.info_each("rest change path=/stop"));
    CHECK(h.log.warn_each("settings problem=x"));
    CHECK(h.lines() == Lines{"warning settings problem=x"});
}

TEST_CASE("turning the log off is its last line, and turning it on is its first line", "[gateway][log]") {
    LogHarness h("info");
    LogLevel level(h.reactor, h.log, "info");
    (void)level.set("off", std::nullopt, "eve");
    h.log.error("nobody reads this");
    (void)level.set("debug", 600s, "anna b");
    CHECK(h.lines() == Lines{"info log level changed from=info to=off by=eve",
                             "info log level changed from=off to=debug for_s=600 by=\"anna b\""});
}
