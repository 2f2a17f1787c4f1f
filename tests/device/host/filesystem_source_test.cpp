#include "host/filesystem_source.hpp"

#include "core/topic.hpp"
#include "device/allocation_counter.hpp"
#include "host_fixture.hpp"
#include "support/catch.hpp"

#include <sys/statvfs.h>

#include <stdexcept>

using namespace telegate;
using namespace telegate::test;
using host::FilesystemSource;

namespace {

std::string mount_line(const std::string& path, const std::string& type) {
    return "30 1 0:50 / " + path + " rw - " + type + " source rw\n";
}

/// A source whose scratch directory `disk` is a mount point in the mount table.
struct MountedDisk {
    HostFixture host;
    std::string path;
    std::string part;

    MountedDisk() : path(host.tree.path("disk")), part(to_topic_part(path.substr(1, 40))) {
        host.tree.make_directory("disk");
        host.options().filesystems = {path};
    }
    void mount(const std::string& type) {
        host.proc("self/mountinfo", mount_line("/", "ext4") + mount_line(path, type));
    }
    [[nodiscard]] std::string channel(const std::string& name) const { return "fs." + part + '.' + name; }
};

}  // namespace

TEST_CASE("a local file system has its sizes and inodes", "[device][host]") {
    MountedDisk disk;
    disk.mount("ext4");
    disk.host.open();
    disk.host.read();
    struct statvfs status {};
    REQUIRE(::statvfs(disk.path.c_str(), &status) == 0);
    CHECK(disk.host.text(disk.channel("state")) == "mounted");
    CHECK(disk.host.integer(disk.channel("total")) == static_cast<std::int64_t>(status.f_blocks * status.f_frsize));
    CHECK(disk.host.integer(disk.channel("free")) >= disk.host.integer(disk.channel("available")));
    CHECK(disk.host.real(disk.channel("used")) >= 0.0);
    CHECK(disk.host.real(disk.channel("used")) <= 100.0);
    CHECK(disk.host.integer(disk.channel("inodes_total")) >= disk.host.integer(disk.channel("inodes_free")));
    CHECK(disk.host.unit(disk.channel("free")) == "By");
}

TEST_CASE("a remote file system is not queried, and its state says why", "[device][host]") {
    MountedDisk disk;
    disk.mount(GENERATE("nfs4", "cifs", "fuse.sshfs", "autofs"));
    disk.host.open();
    disk.host.read();
    CHECK(disk.host.text(disk.channel("state")).starts_with("refused: "));
    CHECK(disk.host.quality(disk.channel("state")) == Quality::bad);
    CHECK(disk.host.is_absent(disk.channel("total")));
    CHECK(disk.host.is_absent(disk.channel("used")));
}

TEST_CASE("a directory that is not a mount point has no sizes until something is mounted", "[device][host]") {
    MountedDisk disk;
    disk.host.proc("self/mountinfo", mount_line("/", "ext4"));
    disk.host.open();
    disk.host.read();
    CHECK(disk.host.text(disk.channel("state")) == "not mounted");
    CHECK(disk.host.is_absent(disk.channel("free")));
    disk.mount("xfs");
    disk.host.read();
    CHECK(disk.host.text(disk.channel("state")) == "mounted");
}

TEST_CASE("without a mount table no file system is queried", "[device][host]") {
    MountedDisk disk;
    disk.host.open();
    disk.host.read();
    CHECK(disk.host.text(disk.channel("state")) == "no mountinfo");
}

TEST_CASE("the state of a removed mount point is the system error", "[device][host]") {
    MountedDisk disk;
    disk.mount("ext4");
    disk.host.tree.remove("disk");
    disk.host.open();
    disk.host.read();
    CHECK(disk.host.text(disk.channel("state")) == "No such file or directory");
    CHECK(disk.host.is_absent(disk.channel("total")));
}

TEST_CASE("the root of this machine has the channels of root", "[device][host]") {
    HostDriverOptions options;
    options.filesystems = {"/"};
    HostFixture host(options, Machine::this_one);
    host.open();
    host.read();
    CHECK_FALSE(host.text("fs.root.state").empty());
}

TEST_CASE("invalid mount points are refused with a reason", "[device][host]") {
    CHECK_THROWS_WITH(FilesystemSource("/proc", {"data"}),
                      "filesystems: \"data\"; must be the absolute path of a mount point");
    CHECK_THROWS_WITH(FilesystemSource("/proc", {"/a", "/a/"}), "filesystems: \"/a\"; must be listed only once");
    CHECK_THROWS_AS(FilesystemSource("/proc", std::vector<std::string>(40, "/x")), std::invalid_argument);
}

TEST_CASE("reading file systems allocates nothing while the mounts do not change", "[device][host]") {
    MountedDisk disk;
    disk.mount("ext4");
    disk.host.open();
    disk.host.read();
    const std::uint64_t before = allocations();
    for (int tick = 0; tick < 50; ++tick) {
        disk.host.read();
    }
    CHECK(allocations() == before);
}
