#include "device/allocation_counter.hpp"
#include "host_fixture.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <system_error>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr const char* core_channels[] = {
    "cpu.user", "cpu.steal", "cpu.busy", "load.1m", "load.15m", "tasks.running", "tasks.total",   "mem.total",
    "mem.used", "swap.used", "uptime",   "load.5m", "mem.free", "swap.total",    "disk.left_out", "net.left_out",
};

void fill_steady_tree(HostFixture& host) {
    host.tree.make_directory("sys/block/sda");
    host.proc("stat", "cpu  100 0 50 800 40 0 10 0 0 0\ncpu0 100 0 50 800 40 0 10 0 0 0\n");
    host.proc("meminfo", "MemTotal: 1000 kB\nMemAvailable: 600 kB\n");
    host.proc("diskstats", "8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n8 1 sda1 1 2 3 4 5 6 7 8 9 10 11\n");
    host.proc("net/dev", "eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    host.proc("pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
    host.sys("class/hwmon/hwmon0/temp1_input", "45500\n");  // loadavg and uptime are missing
}

std::uint64_t allocations_of_reads(HostFixture& host, int reads) {
    host.read();
    const std::uint64_t before = allocations();
    for (int tick = 0; tick < reads; ++tick) {
        host.read();
    }
    return allocations() - before;
}

}  // namespace

TEST_CASE("an empty procfs gives absent channels and not a failed reading", "[device][host]") {
    HostFixture host;
    host.open();
    CHECK(host.read().status == ReadResult::Status::ok);
    for (const char* const name : core_channels) {
        CAPTURE(name);
        CHECK(host.is_absent(name));
    }
    CHECK(host.samples() == host.channels());
}

TEST_CASE("a missing procfs is an error when the driver is created", "[device][host]") {
    HostDriverOptions options;
    options.proc_root = "/nonexistent/proc";
    CHECK_THROWS_AS(make_host_driver(options), std::system_error);
}

TEST_CASE("a file that disappears is absent, and continues when it is back", "[device][host]") {
    HostFixture host;
    host.proc("uptime", "10.5 20.0\n");
    host.proc("net/dev", "eth0: 100 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    host.open();
    host.read();
    CHECK(host.real("uptime") == Approx(10.5));
    host.tree.remove("proc/uptime");
    host.tree.remove("proc/net/dev");
    host.read();
    CHECK(host.is_absent("uptime"));
    CHECK(host.is_absent("net.eth0.rx_bytes"));
    CHECK(host.is_absent("net.left_out"));
    host.proc("uptime", "30.5 40.0\n");
    host.proc("net/dev", "eth0: 900 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    host.read();
    CHECK(host.real("uptime") == Approx(30.5));
    CHECK(host.integer("net.eth0.rx_bytes") == 900);
    CHECK(host.is_absent("net.eth0.rx_rate"));
}

TEST_CASE("a file that was missing at the start is found within ten reads", "[device][host]") {
    HostFixture host;
    host.open();
    host.read();
    host.proc("meminfo", "MemTotal: 1000 kB\n");
    host.read_until_reopened();
    CHECK(host.integer("mem.total") == 1000 * 1024);
}

TEST_CASE("every channel has one sample in every tick", "[device][host]") {
    HostFixture host;
    fill_steady_tree(host);
    host.open();
    host.read();
    CHECK(host.samples() == host.channels());
    host.read();
    CHECK(host.samples() == host.channels());
}

TEST_CASE("reading a steady simulated machine allocates nothing", "[device][host]") {
    HostFixture host(per_core());
    fill_steady_tree(host);
    host.open();
    CHECK(allocations_of_reads(host, 200) == 0);
}

TEST_CASE("reading this machine allocates nothing", "[device][host]") {
    HostFixture host(per_core(), Machine::this_one);
    host.open();
    CHECK(allocations_of_reads(host, 100) == 0);
}

TEST_CASE("a read that finds a new interface allocates", "[device][host]") {
    HostFixture host;
    host.open();
    host.read();
    host.proc("net/dev", "eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    CHECK(allocations_of_reads(host, static_cast<int>(host::ProcFile::reopen_ticks)) > 0);
}

TEST_CASE("this machine has memory, an uptime and CPU usage", "[device][host]") {
    HostFixture host(per_core(), Machine::this_one);
    host.open();
    host.read();
    CHECK(host.integer("mem.total") > 0);
    CHECK(host.integer("mem.used") > 0);
    CHECK(host.real("uptime") > 0.0);
    CHECK(eventually([&] {
        host.read();
        return !host.is_absent("cpu.busy");
    }));
    CHECK(host.real("cpu.busy") >= 0.0);
    CHECK(host.real("cpu.busy") <= 100.0);
}
