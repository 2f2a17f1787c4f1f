#include "recording/recording_file.hpp"

#include "gateway/recording/recorder_harness.hpp"
#include "recording/recorders.hpp"
#include "support/catch.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

std::string error_of(const std::string& path) {
    try {
        RecordingFile file(path, 2);
        (void)file.open();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("an error names the file that cannot be a recording", "[gateway][recorder]") {
    const ScratchDir dir;
    CHECK(error_of(dir.path("none/a")) == dir.path("none/a") + ": No such file or directory");
    CHECK(error_of(dir.path()).find("Is a directory") != std::string::npos);
    std::filesystem::create_symlink(dir.path("b"), dir.path("link"));
    CHECK(error_of(dir.path("link")).find("is a symbolic link") != std::string::npos);
    REQUIRE(::mkfifo(dir.path("pipe").c_str(), 0600) == 0);
    CHECK(error_of(dir.path("pipe")).find("is not a regular file") != std::string::npos);
}

TEST_CASE("a recording is not readable by all users", "[gateway][recorder]") {
    const ScratchDir dir;
    CHECK(error_of(dir.path("a")).empty());
    struct stat facts {};
    REQUIRE(::stat(dir.path("a").c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0137U) == 0);
}

TEST_CASE("one recorder writes to a file at a time", "[gateway][recorder]") {
    const ScratchDir dir;
    RecordingFile first(dir.path("a"), 2);
    (void)first.open();
    CHECK(error_of(dir.path("a")) == dir.path("a") + ": is in use by another recorder");
}

TEST_CASE("a full file is rotated, and a limited number of files is kept", "[gateway][recorder]") {
    RecorderBench bench;
    RecorderOptions options = bench.options();
    options.bytes_max = RecorderOptions::bytes_least;
    options.files_max = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{3});
    {
        Recorder recorder(options, bench.parts());
        for (std::uint64_t part = 0; part < 10; ++part) {  // 5 MiB
            recorder.put(bench.samples(bench.a, part * 8'192 + 1, 8'192));
            REQUIRE(eventually([&] { return recorder.status().pending == 0; }));
        }
        CHECK(recorder.status().lost == 0);
    }
    const auto name = [](std::size_t file) {
        return "a.tgr" + (file == 0 ? "" : '.' + std::to_string(file));
    };
    std::uint64_t last_seq = 10 * 8'192;
    for (std::size_t file = 0; file < options.files_max; ++file) {
        CAPTURE(file);
        CHECK(std::filesystem::file_size(bench.dir.path(name(file))) <= options.bytes_max);
        const ReadRecording read = bench.read(name(file));
        CHECK(read.faults.empty());
        CHECK(read.last.size() == 1);
        REQUIRE(!read.samples.empty());
        CHECK(read.samples.back().seq == last_seq);
        last_seq = read.samples.front().seq - 1;
    }
    CHECK_FALSE(std::filesystem::exists(bench.dir.path(name(options.files_max))));
}

TEST_CASE("a file that was removed is created again", "[gateway][recorder]") {
    RecorderBench bench;
    Recorder recorder(bench.options(), bench.parts());
    recorder.put(bench.samples(bench.a, 1, 1));
    REQUIRE(eventually([&] { return recorder.status().samples == 1; }));
    std::filesystem::remove(bench.options().path);
    recorder.put(bench.samples(bench.a, 2, 1));
    recorder.close();
    const ReadRecording read = bench.read();
    REQUIRE(read.samples.size() == 1);
    CHECK(read.samples[0].seq == 2);
    CHECK(read.channels.size() == 1);
}

TEST_CASE("unchanged recorders continue when others are added or removed", "[gateway][recorder]") {
    RecorderBench bench;
    RecorderOptions one = bench.options("one");
    RecorderOptions two = bench.options("two");
    two.device = "e";
    Recorders recorders(bench.parts());
    recorders.take(bench.samples(bench.a, 1, 1));  // no recorder is left
    recorders.change({one});
    recorders.take(bench.samples(bench.a, 2, 1));
    recorders.change({one, two});
    recorders.take(bench.samples(bench.c, 1, 1));
    recorders.gap({bench.c, 2, 2, DropReason::queue_overflow});
    CHECK(recorders.status().size() == 2);
    recorders.change({two});
    recorders.take(bench.samples(bench.c, 3, 1));
    recorders.close();
    CHECK(recorders.status().empty());
    CHECK(bench.read("one").samples.size() == 2);
    CHECK(bench.read("one").starts.size() == 1);
    CHECK(bench.read("two").samples.size() == 2);
    CHECK(bench.read("two").gaps.size() == 1);
}

TEST_CASE("a new recorder can use the file of one that ends", "[gateway][recorder]") {
    RecorderBench bench;
    RecorderOptions other = bench.options();
    other.files_max = 5;
    Recorders recorders(bench.parts());
    recorders.change({bench.options()});
    recorders.take(bench.samples(bench.a, 1, 1));
    recorders.change({other});
    recorders.take(bench.samples(bench.a, 2, 1));
    recorders.close();
    CHECK(bench.read().samples.size() == 2);
    CHECK(bench.read().last.size() == 2);
}
