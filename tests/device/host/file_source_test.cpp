#include "host/file_source.hpp"

#include "device/allocation_counter.hpp"
#include "host_fixture.hpp"
#include "support/catch.hpp"

#include <sys/stat.h>

#include <stdexcept>

using namespace telegate;
using namespace telegate::test;

namespace {

struct Files {
    HostFixture host;

    Files() { host.proc("self/mountinfo", "1 1 0:1 / / rw - ext4 disk rw\n"); }
    void add(const std::string& name, const std::string& path) {
        host.options().files.push_back(name + '=' + host.tree.path(path));
    }
    void put(const std::string& path, const std::string& text) { host.tree.write(path, text); }
    void read_until_matched() {
        for (std::uint32_t tick = 0; tick <= host::FileSource::match_ticks; ++tick) {
            host.read();
        }
    }
};

}  // namespace

TEST_CASE("the number in a file is a channel", "[device][host]") {
    Files files;
    files.put("value", "  -12.5 \n");
    files.add("level", "value");
    files.host.open();
    files.host.read();
    CHECK(files.host.real("file.level") == Approx(-12.5));
    CHECK(files.host.integer("file.left_out") == 0);
    CHECK(files.host.text("file.refused").empty());
    files.put("value", "1e3");
    files.host.read();
    CHECK(files.host.real("file.level") == Approx(1'000.0));
}

TEST_CASE("a file without a number has no value", "[device][host]") {
    Files files;
    files.put("value", GENERATE("", "on\n", "12 V\n", "nan\n", "0x10\n"));
    files.add("level", "value");
    files.host.open();
    files.host.read();
    CHECK(files.host.is_absent("file.level"));
}

TEST_CASE("a pattern gives a channel for each file, named after the text that its stars match", "[device][host]") {
    Files files;
    files.put("hwmon/hwmon2/fan1_input", "900\n");
    files.put("hwmon/hwmon10/fan1_input", "1200\n");
    files.put("hwmon/hwmon10/fan2_input", "1300\n");
    files.put("hwmon/other/fan1_input", "1\n");
    files.put("hwmon/hwmon3/temp1_input", "2\n");
    files.add("fan", "hwmon/hwmon*/fan*_input");
    files.host.open();
    files.host.read();
    CHECK(files.host.real("file.fan.2.1") == Approx(900.0));
    CHECK(files.host.real("file.fan.10.1") == Approx(1'200.0));
    CHECK(files.host.real("file.fan.10.2") == Approx(1'300.0));
    CHECK(files.host.channels() == files.host.samples());
}

TEST_CASE("a file that is created later is read when it exists", "[device][host]") {
    Files files;
    files.add("one", "value");
    files.add("many", "dir/x*");
    files.host.open();
    files.host.read();
    CHECK(files.host.is_absent("file.one"));
    files.put("value", "5");
    files.put("dir/x7", "6");
    files.read_until_matched();
    CHECK(files.host.real("file.one") == Approx(5.0));
    CHECK(files.host.real("file.many.7") == Approx(6.0));
}

TEST_CASE("a device that returns with a different number is found again", "[device][host]") {
    Files files;
    files.put("hwmon1/in", "1");
    files.add("in", "hwmon*/in");
    files.host.open();
    files.host.read();
    files.host.tree.remove("hwmon1");
    files.put("hwmon4/in", "4");
    files.host.read();
    CHECK(files.host.is_absent("file.in.1"));
    files.read_until_matched();
    CHECK(files.host.real("file.in.4") == Approx(4.0));
}

TEST_CASE("a reset searches for files again", "[device][host]") {
    Files files;
    files.put("x1", "1");
    files.add("x", "x*");
    files.host.open();
    files.put("x2", "2");
    files.host.read();
    CHECK_FALSE(files.host.has_channel("file.x.2"));
    files.host.reset();
    files.host.read();
    CHECK(files.host.real("file.x.2") == Approx(2.0));
}

TEST_CASE("pipes and directories are not read and do not block", "[device][host]") {
    Files files;
    REQUIRE(::mkfifo(files.host.tree.path("pipe").c_str(), 0600) == 0);
    files.host.tree.make_directory("directory");
    files.add("pipe", "pipe");
    files.add("directory", "directory");
    files.add("any", "*");
    files.host.open();
    files.host.read();
    CHECK(files.host.is_absent("file.pipe"));
    CHECK(files.host.is_absent("file.directory"));
    CHECK_FALSE(files.host.has_channel("file.any.pipe"));
}

TEST_CASE("files on a remote file system are not opened, and the reason is reported", "[device][host]") {
    Files files;
    files.put("far/value", "1");
    files.add("far", "far/value");
    files.add("some", "*/value");
    const std::string mount = "2 1 0:2 / " + files.host.tree.path("far") + " rw - nfs server:/x rw\n";
    files.host.proc("self/mountinfo", "1 1 0:1 / / rw - ext4 disk rw\n" + mount);
    files.host.open();
    files.host.read();
    CHECK(files.host.is_absent("file.far"));
    CHECK_FALSE(files.host.has_channel("file.some.far"));
    CHECK(files.host.text("file.refused") == "some: nfs");
    files.host.proc("self/mountinfo", "1 1 0:1 / / rw - ext4 disk rw\n");
    files.read_until_matched();
    CHECK(files.host.real("file.far") == Approx(1.0));
    CHECK(files.host.text("file.refused").empty());
}

TEST_CASE("files beyond the limit are counted", "[device][host]") {
    Files files;
    for (std::size_t number = 1; number <= host::FileSource::files_max + 3; ++number) {
        files.put("v" + std::to_string(number), "1");
    }
    files.add("v", "v*");
    files.host.open();
    files.host.read();
    CHECK(files.host.integer("file.left_out") == 3);
    CHECK(files.host.has_channel("file.v.64"));
    CHECK_FALSE(files.host.has_channel("file.v.65"));
}

TEST_CASE("invalid files are refused with a reason", "[device][host]") {
    CHECK_THROWS_WITH(host::FileSource("/proc", {"/sys/x"}),
                      "files: \"/sys/x\"; must be NAME=PATH, where NAME is 1 to 32 of [a-z0-9_.-]");
    CHECK_THROWS_WITH(host::FileSource("/proc", {"a=x"}),
                      "files: a: \"x\"; must be the absolute path of a file, with at most one * in each part");
    CHECK_THROWS_WITH(host::FileSource("/proc", {"a=/x/**"}),
                      "files: a: \"/x/**\"; must be the absolute path of a file, with at most one * in each part");
    CHECK_THROWS_WITH(host::FileSource("/proc", {"a=/x", "a=/y"}), "files: \"a=/y\"; must be listed only once");
    CHECK_THROWS_AS(host::FileSource("/proc", {"Fan=/x"}), std::invalid_argument);
}

TEST_CASE("reading files allocates nothing", "[device][host]") {
    Files files;
    files.put("x1", "1");
    files.add("x", "x*");
    files.host.open();
    files.host.read();
    const std::uint64_t before = allocations();
    for (std::uint32_t tick = 0; tick < 2 * host::FileSource::match_ticks; ++tick) {
        files.host.read();
    }
    CHECK(allocations() == before);
}
