#include "host/mount_table.hpp"

#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <memory>

using namespace telegate;
using namespace telegate::test;
using namespace telegate::host;

namespace {

constexpr std::string_view mounts =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "23 22 0:5 / /proc rw shared:2 - proc proc rw\n"
    "24 22 0:40 / /mnt/data rw - nfs4 server:/data rw\n"
    "25 24 0:41 / /mnt/data/cache rw - tmpfs tmpfs rw\n"
    "26 22 0:42 / /mnt/my\\040disk rw shared:3 master:1 - xfs /dev/sdb rw\n"
    "27 22 0:43 / /mnt/twice rw - cifs //server/x rw\n"
    "28 27 0:44 / /mnt/twice rw - ext4 /dev/sdc rw\n";

}  // namespace

TEST_CASE("the type at a mount point is that of the last mount", "[device][host]") {
    CHECK(mount_type(mounts, "/") == "ext4");
    CHECK(mount_type(mounts, "/mnt/data") == "nfs4");
    CHECK(mount_type(mounts, "/mnt/my disk") == "xfs");
    CHECK(mount_type(mounts, "/mnt/twice") == "ext4");
    CHECK(mount_type(mounts, "/mnt").empty());
    CHECK(mount_type(mounts, "/mnt/dat").empty());
    CHECK(mount_type("", "/").empty());
    CHECK(mount_type("half a line", "/").empty());
}

TEST_CASE("a path is as remote as the first remote file system on it", "[device][host]") {
    CHECK(remote_type(mounts, "/").empty());
    CHECK(remote_type(mounts, "/proc").empty());
    CHECK(remote_type(mounts, "/mnt/data") == "nfs4");
    CHECK(remote_type(mounts, "/mnt/data/cache") == "nfs4");
    CHECK(remote_type(mounts, "/mnt/data/some/file") == "nfs4");
    CHECK(remote_type(mounts, "/mnt/database").empty());
    CHECK(remote_type(mounts, "/mnt/twice/x").empty());
}

TEST_CASE("remote mounts below a directory are found", "[device][host]") {
    CHECK(remote_type_below(mounts, "/mnt") == "nfs4");
    CHECK(remote_type_below(mounts, "/") == "nfs4");
    CHECK(remote_type_below(mounts, "/mnt/data").empty());
    CHECK(remote_type_below(mounts, "/mn").empty());
    CHECK(remote_type_below(mounts, "/proc").empty());
}

TEST_CASE("only types that need no other process or machine are local", "[device][host]") {
    for (const char* const type : {"ext4", "xfs", "tmpfs", "overlay", "sysfs"}) {
        CHECK(is_local_type(type));
    }
    for (const char* const type : {"nfs", "nfs4", "cifs", "fuse.sshfs", "fuseblk", "9p", "autofs", "ceph", ""}) {
        CHECK_FALSE(is_local_type(type));
    }
}

TEST_CASE("a missing or long mount table is reported, and changes are detected", "[device][host]") {
    ScratchDir tree;
    constexpr std::size_t bytes = 64 * 1'024;
    const auto buffer = std::make_unique<char[]>(bytes);
    const std::span<char> room(buffer.get(), bytes);
    MountTable missing(tree.path("nowhere"));
    CHECK(missing.read(room).fault == "no mountinfo");

    MountTable table(tree.path("proc"));
    tree.write("proc/self/mountinfo", mounts);
    CHECK(table.read(room).text == mounts);
    CHECK_FALSE(table.read(room).has_changed);
    tree.write("proc/self/mountinfo", std::string(mounts) + "29 1 0:1 / /new rw - tmpfs tmpfs rw\n");
    CHECK(table.read(room).has_changed);
    std::string many;
    while (many.size() < bytes) {
        many += mounts;
    }
    tree.write("proc/self/mountinfo", many);
    const auto reading = table.read(room);
    CHECK(reading.fault == "mountinfo too long");
    CHECK(reading.text.empty());
}
