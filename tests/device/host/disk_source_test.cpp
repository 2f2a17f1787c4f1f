#include "host/counter_rows.hpp"
#include "host_fixture.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// Returns a line of diskstats: operations and sectors in each direction, and busy milliseconds.
struct DiskLine {
    std::string name;
    std::uint64_t reads = 0, read_sectors = 0, writes = 0, write_sectors = 0, busy_ms = 0;

    [[nodiscard]] std::string line() const {
        const auto number = [](std::uint64_t value) {
            return std::to_string(value) + ' ';
        };
        return " 254       0 " + name + ' ' + number(reads) + "7 " + number(read_sectors) + "8 " + number(writes) +
               "9 " + number(write_sectors) + "10 0 " + number(busy_ms) + "11 0 0 0 0 0 0\n";
    }
};

}  // namespace

TEST_CASE("a disk has its counters from the first read and its rates from the second", "[device][host]") {
    HostFixture host;
    host.tree.make_directory("sys/block/vda");
    host.proc("diskstats", DiskLine{"vda", 100, 2'000, 50, 800, 400}.line());
    host.open();
    host.read();
    CHECK(host.integer("disk.vda.read_bytes") == 2'000 * 512);
    CHECK(host.integer("disk.vda.write_bytes") == 800 * 512);
    CHECK(host.integer("disk.vda.read_operations") == 100);
    CHECK(host.integer("disk.vda.write_operations") == 50);
    CHECK(host.is_absent("disk.vda.read_rate"));
    CHECK(host.is_absent("disk.vda.busy"));
    host.proc("diskstats", DiskLine{"vda", 110, 2'400, 60, 1'000, 900}.line());
    host.read(2s);
    CHECK(host.integer("disk.vda.read_bytes") == 2'400 * 512);
    CHECK(host.real("disk.vda.read_rate") == Approx(200 * 512));
    CHECK(host.real("disk.vda.write_rate") == Approx(100 * 512));
    CHECK(host.real("disk.vda.read_operations_rate") == Approx(5.0));
    CHECK(host.real("disk.vda.write_operations_rate") == Approx(5.0));
    CHECK(host.real("disk.vda.busy") == Approx(25.0));
    CHECK(host.unit("disk.vda.read_rate") == "By/s");
}

TEST_CASE("partitions, loop devices, RAM disks and zram are not disks", "[device][host]") {
    HostFixture host;
    for (const char* const name : {"sda", "loop0", "ram1", "zram0"}) {
        host.tree.make_directory(std::string("sys/block/") + name);
    }
    host.proc("diskstats", DiskLine{"sda"}.line() + DiskLine{"sda1"}.line() + DiskLine{"loop0"}.line() +
                               DiskLine{"ram1"}.line() + DiskLine{"zram0"}.line());
    host.open();
    host.read();
    CHECK(host.has_channel("disk.sda.busy"));
    CHECK_FALSE(host.has_channel("disk.sda1.busy"));
    CHECK_FALSE(host.has_channel("disk.loop0.busy"));
    CHECK_FALSE(host.has_channel("disk.ram1.busy"));
    CHECK_FALSE(host.has_channel("disk.zram0.busy"));
    CHECK(host.integer("disk.left_out") == 0);
}

TEST_CASE("a disk that is plugged in has channels from that tick on", "[device][host]") {
    HostFixture host;
    host.tree.make_directory("sys/block/vda");
    host.proc("diskstats", DiskLine{"vda"}.line());
    host.open();
    host.read();
    CHECK_FALSE(host.has_channel("disk.vdb.read_bytes"));
    host.tree.make_directory("sys/block/vdb");
    host.proc("diskstats", DiskLine{"vda"}.line() + DiskLine{"vdb", 1, 2, 3, 4, 5}.line());
    host.read();
    CHECK(host.integer("disk.vdb.read_bytes") == 2 * 512);
    CHECK(host.is_absent("disk.vdb.read_rate"));
}

TEST_CASE("a disk that is removed is absent, and continues in the same channels when it returns", "[device][host]") {
    HostFixture host;
    host.tree.make_directory("sys/block/sda");
    host.tree.make_directory("sys/block/sdb");
    const std::string other = DiskLine{"sdb"}.line();
    host.proc("diskstats", DiskLine{"sda", 1, 1'000, 1, 1, 1}.line() + other);
    host.open();
    host.read();
    const std::size_t channels = host.channels();
    host.proc("diskstats", other);
    host.read();
    CHECK(host.is_absent("disk.sda.read_bytes"));
    CHECK(host.is_absent("disk.sda.busy"));
    CHECK(host.real("disk.sdb.read_rate") == Approx(0.0));
    host.proc("diskstats", DiskLine{"sda", 1, 3'000, 1, 1, 1}.line() + other);
    host.read();
    CHECK(host.integer("disk.sda.read_bytes") == 3'000 * 512);
    CHECK(host.is_absent("disk.sda.read_rate"));
    host.proc("diskstats", DiskLine{"sda", 1, 3'010, 1, 1, 1}.line() + other);
    host.read();
    CHECK(host.real("disk.sda.read_rate") == Approx(10 * 512));
    CHECK(host.channels() == channels);
}

TEST_CASE("busy time that overflows at 32 bits keeps its percentage", "[device][host]") {
    HostFixture host;
    host.tree.make_directory("sys/block/sda");
    host.proc("diskstats", DiskLine{"sda", 0, 0, 0, 0, 4'294'967'196}.line());  // 100 ms before the overflow
    host.open();
    host.read();
    host.proc("diskstats", DiskLine{"sda", 0, 0, 0, 0, 200}.line());
    host.read();
    CHECK(host.real("disk.sda.busy") == Approx(30.0));
}

TEST_CASE("a disk is never more than 100 percent busy", "[device][host]") {
    HostFixture host;
    host.tree.make_directory("sys/block/sda");
    host.proc("diskstats", DiskLine{"sda"}.line());
    host.open();
    host.read();
    host.proc("diskstats", DiskLine{"sda", 0, 0, 0, 0, 3'000}.line());
    host.read();
    CHECK(host.real("disk.sda.busy") == Approx(100.0));
}

TEST_CASE("a counter too large for a sample is absent", "[device][host]") {
    HostFixture host;
    host.tree.make_directory("sys/block/sda");
    host.proc("diskstats", DiskLine{"sda", 5, 18'014'398'509'481'984, 0, 0, 0}.line());  // 2^54 sectors
    host.open();
    host.read();
    CHECK(host.is_absent("disk.sda.read_bytes"));
    CHECK(host.integer("disk.sda.read_operations") == 5);
}

TEST_CASE("in a short line of a disk the missing fields are absent", "[device][host]") {
    HostFixture host;
    host.tree.make_directory("sys/block/sda");
    host.proc("diskstats", "8 0 sda 5 0 16\n");
    host.open();
    host.read();
    CHECK(host.integer("disk.sda.read_bytes") == 16 * 512);
    CHECK(host.is_absent("disk.sda.write_bytes"));
}

TEST_CASE("a disk with a slash in its name is found in sysfs under its other spelling", "[device][host]") {
    HostFixture host;
    host.tree.make_directory("sys/block/cciss!c0d0");
    host.proc("diskstats", DiskLine{"cciss/c0d0", 4, 0, 0, 0, 0}.line());
    host.open();
    host.read();
    CHECK(host.integer("disk.cciss_c0d0.read_operations") == 4);
}

TEST_CASE("disks beyond the limit are counted, and the first ones stay", "[device][host]") {
    HostFixture host;
    std::string text;
    for (std::size_t number = 0; number < host::CounterRows::rows_max + 3; ++number) {
        const std::string name = "sd" + std::to_string(number);
        host.tree.make_directory("sys/block/" + name);
        text += DiskLine{name, number, 0, 0, 0, 0}.line();
    }
    host.proc("diskstats", text);
    host.open();
    host.read();
    CHECK(host.integer("disk.left_out") == 3);
    CHECK(host.integer("disk.sd63.read_operations") == 63);
    CHECK_FALSE(host.has_channel("disk.sd64.read_operations"));
}
