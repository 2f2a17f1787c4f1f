#include "log/log_sink.hpp"

#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

using namespace telegate;

namespace {

/// A pipe and a logger that writes to it.
struct SinkHarness {
    SinkHarness() {
        REQUIRE(::pipe(ends.data()) == 0);
        logger = std::make_unique<spdlog::logger>("test", std::make_shared<LogSink>(ends[1], false));
        logger->set_pattern("%l %v");
    }
    ~SinkHarness() {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    SinkHarness(const SinkHarness&) = delete;
    SinkHarness& operator=(const SinkHarness&) = delete;

    std::string read_all() {
        std::string text(1 << 20, '\0');
        const ssize_t bytes = ::read(ends[0], text.data(), text.size());
        text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
        return text;
    }

    std::array<int, 2> ends{-1, -1};
    std::unique_ptr<spdlog::logger> logger;
};

}  // namespace

TEST_CASE("a line is written immediately", "[gateway][log]") {
    SinkHarness h;
    h.logger->info("hello");
    CHECK(h.read_all() == "info hello\n");
}

TEST_CASE("a pipe without a reader blocks nothing, and lost lines are reported afterwards", "[gateway][log]") {
    SinkHarness h;
    const std::string line(100, 'x');
    for (int i = 0; i < 10'000; ++i) {  // far more than the pipe's capacity
        h.logger->info(line);
    }
    const std::string held = h.read_all();
    const std::size_t lines = held.size() / (std::string("info \n").size() + line.size());
    h.logger->info("again");
    CHECK(h.read_all() == "warning log lines lost=" + std::to_string(10'000 - lines) + "\ninfo again\n");
}

TEST_CASE("a very long line is truncated, not split", "[gateway][log]") {
    SinkHarness h;
    h.logger->info(std::string(100'000, 'x'));
    const std::string text = h.read_all();
    CHECK(text.size() <= 4096);
    CHECK(text.back() == '\n');
}

TEST_CASE("for the journal each line starts with its priority", "[gateway][log]") {
    SinkHarness h;
    spdlog::logger logger("test", std::make_shared<LogSink>(h.ends[1], true));
    logger.set_pattern("%v");
    logger.set_level(spdlog::level::trace);
    logger.trace("t");
    logger.info("i");
    logger.warn("w");
    logger.error("e");
    CHECK(h.read_all() == "<7>t\n<6>i\n<4>w\n<3>e\n");
}

TEST_CASE("the journal is recognized by device and inode", "[gateway][log]") {
    SinkHarness h;
    struct stat status {};
    REQUIRE(::fstat(h.ends[1], &status) == 0);
    const std::string own = std::to_string(status.st_dev) + ':' + std::to_string(status.st_ino);
    CHECK(is_journal_stream(h.ends[1], own));
    CHECK_FALSE(is_journal_stream(h.ends[1], own + '1'));
    CHECK_FALSE(is_journal_stream(h.ends[1], ""));
    CHECK_FALSE(is_journal_stream(-1, own));
}

TEST_CASE("a file is appended to, and reopened after a rotation", "[gateway][log]") {
    const test::ScratchDir scratch;
    const std::string path = scratch.path("log");
    scratch.write("log", "old\n");
    const auto sink = std::make_shared<LogSink>(path);
    spdlog::logger logger("test", sink);
    logger.set_pattern("%v");
    logger.info("one");
    REQUIRE(std::rename(path.c_str(), scratch.path("log.1").c_str()) == 0);
    logger.info("two");
    CHECK_FALSE(sink->reopen());
    logger.info("three");
    CHECK(scratch.read("log.1") == "old\none\ntwo\n");
    CHECK(scratch.read("log") == "three\n");
}

TEST_CASE("a file that cannot be reopened stays in use, and one that cannot be opened is refused", "[gateway][log]") {
    const test::ScratchDir scratch;
    const std::string folder = scratch.path("folder");
    REQUIRE(::mkdir(folder.c_str(), 0700) == 0);
    const auto sink = std::make_shared<LogSink>(folder + "/log");
    spdlog::logger logger("test", sink);
    logger.set_pattern("%v");
    REQUIRE(std::rename(folder.c_str(), scratch.path("moved").c_str()) == 0);
    CHECK(sink->reopen() == std::errc::no_such_file_or_directory);
    logger.info("still here");
    CHECK(scratch.read("moved/log") == "still here\n");
    CHECK_THROWS_WITH(LogSink(folder + "/log"), Catch::StartsWith(folder + "/log"));
}

TEST_CASE("lines lost because of a full disk are counted and reported when there is space", "[gateway][log]") {
    const test::ScratchDir scratch;
    const std::string path = scratch.path("log");
    REQUIRE(::symlink("/dev/full", path.c_str()) == 0);
    const auto sink = std::make_shared<LogSink>(path);
    spdlog::logger logger("test", sink);
    logger.set_pattern("%v");
    logger.info("one");
    logger.info("two");
    REQUIRE(::unlink(path.c_str()) == 0);
    REQUIRE_FALSE(sink->reopen());
    logger.info("three");
    CHECK(scratch.read("log") == "log lines lost=2\nthree\n");
}
