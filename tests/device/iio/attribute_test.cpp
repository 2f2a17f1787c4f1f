#include "iio/attribute.hpp"

#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("an attribute that is a symbolic link is not written", "[device][iio]") {
    const ScratchDir scratch;
    const std::string target = scratch.path("target");
    std::ofstream(target) << "precious";
    std::filesystem::create_symlink(target, scratch.path("sampling_frequency"));
    CHECK(iio::write_attribute(scratch.path("sampling_frequency"), "1") == ELOOP);
    CHECK(content(target) == "precious");
}

TEST_CASE("writing an attribute neither creates nor truncates a file", "[device][iio]") {
    const ScratchDir scratch;
    CHECK(iio::write_attribute(scratch.path("enable"), "1") == ENOENT);
    CHECK_FALSE(std::filesystem::exists(scratch.path("enable")));
    std::ofstream(scratch.path("enable")) << "0 and more";
    CHECK(iio::write_attribute(scratch.path("enable"), "1") == 0);
    CHECK(content(scratch.path("enable")) == "1 and more");
}

TEST_CASE("below /sys only sysfs is written", "[device][iio]") {
    // On a separate file system.
    const std::string other = GENERATE("/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/cpu/cgroup.procs");
    if (std::filesystem::exists(other)) {
        const int error = iio::write_attribute(other, "x");
        CHECK((error == EPERM || error == EACCES || error == EROFS));
    }
}
