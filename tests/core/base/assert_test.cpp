#include "core/assert.hpp"

#include "core/unique_fd.hpp"
#include "support/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <string>

using namespace telegate;

TEST_CASE("a failed assertion prints a path in the project, and aborts", "[core][assert]") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::dup2(write_end.get(), STDERR_FILENO);
        std::signal(SIGABRT, SIG_DFL);
        TELEGATE_ASSERT(2 + 2 == 5);
    }
    write_end = UniqueFd();
    std::string text;
    std::array<char, 512> bytes{};
    for (ssize_t count = 1; count > 0;) {
        count = ::read(read_end.get(), bytes.data(), bytes.size());
        text.append(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(text.find("assertion failed: 2 + 2 == 5 at tests/core/base/assert_test.cpp:") != std::string::npos);
}
