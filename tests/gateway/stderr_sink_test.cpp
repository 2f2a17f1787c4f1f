#include "stderr_sink.hpp"

#include "support/catch.hpp"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

using namespace telegate;

namespace {

/// A pipe and a logger that writes into it.
struct Harness {
    Harness() {
        REQUIRE(::pipe(ends.data()) == 0);
        logger = std::make_unique<spdlog::logger>("test", std::make_shared<StderrSink>(ends[1]));
        logger->set_pattern("%l %v");
    }
    ~Harness() {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    Harness(const Harness&) = delete;
    Harness& operator=(const Harness&) = delete;

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

TEST_CASE("a line is written at once", "[gateway][log]") {
    Harness h;
    h.logger->info("hello");
    CHECK(h.read_all() == "info hello\n");
}

TEST_CASE("a pipe that nobody reads stops nothing, and what was lost is told afterwards", "[gateway][log]") {
    Harness h;
    const std::string line(100, 'x');
    for (int i = 0; i < 10'000; ++i) {  // far more than the pipe holds
        h.logger->info(line);
    }
    const std::string held = h.read_all();
    const std::size_t lines = held.size() / (std::string("info \n").size() + line.size());
    h.logger->info("again");
    CHECK(h.read_all() == "log lines lost=" + std::to_string(10'000 - lines) + ": nobody read them\ninfo again\n");
}

TEST_CASE("a very long line is cut, not split", "[gateway][log]") {
    Harness h;
    h.logger->info(std::string(100'000, 'x'));
    const std::string text = h.read_all();
    CHECK(text.size() <= 4096);
    CHECK(text.back() == '\n');
}
