#include "host/proc_file.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <sys/stat.h>

#include <array>
#include <utility>

using namespace telegate;
using namespace telegate::test;
using host::ProcFile;

TEST_CASE("a file is read from its start each time", "[device][host]") {
    ScratchDir tree;
    std::array<char, 64> buffer{};
    tree.write("file", "one\ntwo\n");
    ProcFile file(tree.path("file"));
    CHECK(file.read(buffer) == "one\ntwo\n");
    tree.write("file", "3\n");
    CHECK(file.read(buffer) == "3\n");
}

TEST_CASE("a file that does not fit is truncated after its last whole line", "[device][host]") {
    ScratchDir tree;
    std::array<char, 10> buffer{};
    tree.write("file", "one\ntwo\nthree\n");
    ProcFile file(tree.path("file"));
    CHECK(file.read(buffer) == "one\ntwo\n");
    tree.write("file", "a single long line\n");
    CHECK(file.read(buffer) == "");
}

TEST_CASE("a missing file is tried again on every tenth read", "[device][host]") {
    ScratchDir tree;
    std::array<char, 64> buffer{};
    ProcFile file(tree.path("file"));
    CHECK_FALSE(file.read(buffer));
    tree.write("file", "here\n");
    for (std::uint32_t tick = 1; tick < ProcFile::reopen_ticks; ++tick) {
        CHECK_FALSE(file.read(buffer));
    }
    CHECK(file.read(buffer) == "here\n");
}

TEST_CASE("a file that was removed does not give its last content", "[device][host]") {
    ScratchDir tree;
    std::array<char, 64> buffer{};
    tree.write("file", "old\n");
    ProcFile file(tree.path("file"));
    REQUIRE(file.read(buffer) == "old\n");
    tree.remove("file");
    CHECK_FALSE(file.read(buffer));
    tree.write("file", "new\n");
    CHECK(file.read(buffer) == "new\n");
}

TEST_CASE("a path that is not a regular file has no text and does not block", "[device][host]") {
    ScratchDir tree;
    std::array<char, 64> buffer{};
    tree.make_directory("directory");
    REQUIRE(::mkfifo(tree.path("pipe").c_str(), 0600) == 0);
    CHECK_FALSE(ProcFile(tree.path("directory")).read(buffer));
    CHECK_FALSE(ProcFile(tree.path("pipe")).read(buffer));
}

TEST_CASE("a file continues after it was moved to another owner", "[device][host]") {
    ScratchDir tree;
    std::array<char, 64> buffer{};
    tree.write("file", "text\n");
    ProcFile first(tree.path("file"));
    REQUIRE(first.read(buffer));
    ProcFile second(std::move(first));
    CHECK(second.read(buffer) == "text\n");
}
