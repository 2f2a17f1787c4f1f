#include "host/cpu_source.hpp"
#include "host_fixture.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;

TEST_CASE("CPU usage is the share of each mode since the previous read", "[device][host]") {
    HostFixture host;
    host.proc("stat", "cpu  100 0 50 800 40 0 10 0 0 0\nintr 5\n");
    host.open();
    host.read();
    host.proc("stat", "cpu  120 10 65 840 45 2 13 5 7 0\nintr 9\n");
    host.read();
    CHECK(host.real("cpu.user") == Approx(20.0));
    CHECK(host.real("cpu.nice") == Approx(10.0));
    CHECK(host.real("cpu.system") == Approx(15.0));
    CHECK(host.real("cpu.idle") == Approx(40.0));
    CHECK(host.real("cpu.iowait") == Approx(5.0));
    CHECK(host.real("cpu.irq") == Approx(2.0));
    CHECK(host.real("cpu.softirq") == Approx(3.0));
    CHECK(host.real("cpu.steal") == Approx(5.0));
    CHECK(host.real("cpu.busy") == Approx(55.0));
    CHECK(host.unit("cpu.user") == "%");
}

TEST_CASE("the first read and the first read after a reset have no CPU usage", "[device][host]") {
    HostFixture host;
    host.proc("stat", "cpu  100 0 50 800 40 0 10 0 0 0\n");
    host.open();
    host.read();
    CHECK(host.is_absent("cpu.user"));
    CHECK(host.is_absent("cpu.busy"));
    host.reset();
    host.proc("stat", "cpu  200 0 50 800 40 0 10 0 0 0\n");
    host.read();
    CHECK(host.is_absent("cpu.user"));
}

TEST_CASE("CPU usage is absent while the kernel has counted no time since the previous read", "[device][host]") {
    HostFixture host;
    host.proc("stat", "cpu  100 0 50 800 40 0 10 0 0 0\n");
    host.open();
    host.read();
    host.read();
    CHECK(host.is_absent("cpu.user"));
}

TEST_CASE("a CPU mode that steps back counts as unchanged", "[device][host]") {
    HostFixture host;
    host.proc("stat", "cpu  100 0 0 800 40 0 0 0 0 0\n");
    host.open();
    host.read();
    host.proc("stat", "cpu  125 0 0 875 39 0 0 0 0 0\n");
    host.read();
    CHECK(host.real("cpu.iowait") == Approx(0.0));
    CHECK(host.real("cpu.user") == Approx(25.0));
    CHECK(host.real("cpu.idle") == Approx(75.0));
}

TEST_CASE("restarted CPU counters give one read without usage", "[device][host]") {
    HostFixture host;
    host.proc("stat", "cpu  1000 0 500 8000 400 0 10 0 0 0\n");
    host.open();
    host.read();
    host.proc("stat", "cpu  10 0 10 20 0 7 0 0 0 0\n");
    host.read();
    CHECK(host.is_absent("cpu.user"));
    host.proc("stat", "cpu  20 0 10 30 0 7 0 0 0 0\n");
    host.read();
    CHECK(host.real("cpu.user") == Approx(50.0));
}

TEST_CASE("a CPU mode that the kernel does not have is absent, the others are not", "[device][host]") {
    HostFixture host;
    host.proc("stat", "cpu  100 0 0 800\n");
    host.open();
    host.read();
    host.proc("stat", "cpu  150 0 0 850\n");
    host.read();
    CHECK(host.real("cpu.user") == Approx(50.0));
    CHECK(host.real("cpu.busy") == Approx(50.0));
    CHECK(host.is_absent("cpu.iowait"));
    CHECK(host.is_absent("cpu.steal"));
}

TEST_CASE("cores have channels only if they are requested", "[device][host]") {
    const bool asked = GENERATE(false, true);
    HostDriverOptions options;
    options.per_core = asked;
    HostFixture host(options);
    host.proc("stat", "cpu  2 0 0 0 0 0 0 0\ncpu0 1 0 0 0 0 0 0 0\ncpu1 1 0 0 0 0 0 0 0\n");
    host.open();
    CHECK(host.has_channel("cpu0.user") == asked);
    CHECK(host.has_channel("cpu1.busy") == asked);
    CHECK(host.has_channel("cpu.left_out") == asked);
}

TEST_CASE("each core has its own usage", "[device][host]") {
    HostFixture host(per_core());
    host.proc("stat", "cpu  0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n");
    host.open();
    host.read();
    host.proc("stat", "cpu  90 0 0 110 0 0 0 0\ncpu0 80 0 0 20 0 0 0 0\ncpu1 10 0 0 90 0 0 0 0\n");
    host.read();
    CHECK(host.real("cpu.user") == Approx(45.0));
    CHECK(host.real("cpu0.user") == Approx(80.0));
    CHECK(host.real("cpu1.busy") == Approx(10.0));
}

TEST_CASE("a core that goes offline is absent, and continues in the same channels when it returns", "[device][host]") {
    HostFixture host(per_core());
    host.proc("stat", "cpu  0 0 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\n");
    host.open();
    const std::size_t channels = host.channels();
    host.read();
    host.proc("stat", "cpu  9 0 0 1\ncpu0 9 0 0 1\n");
    host.read();
    CHECK(host.is_absent("cpu1.user"));
    host.proc("stat", "cpu  29 0 0 1\ncpu0 19 0 0 1\ncpu1 70 0 0 30\n");
    host.read();
    CHECK(host.is_absent("cpu1.user"));  // its counters may have restarted
    host.proc("stat", "cpu  49 0 0 1\ncpu0 29 0 0 1\ncpu1 80 0 0 30\n");
    host.read();
    CHECK(host.real("cpu1.user") == Approx(100.0));
    CHECK(host.channels() == channels);
}

TEST_CASE("a core that is plugged in has channels from that tick on", "[device][host]") {
    HostFixture host(per_core());
    host.proc("stat", "cpu  0 0 0 0\ncpu0 0 0 0 0\n");
    host.open();
    host.read();
    CHECK_FALSE(host.has_channel("cpu3.user"));
    host.proc("stat", "cpu  9 0 0 1\ncpu0 9 0 0 1\ncpu3 1 0 0 1\n");
    host.read();
    CHECK(host.is_absent("cpu3.user"));
    CHECK_FALSE(host.has_channel("cpu2.user"));
}

TEST_CASE("cores beyond the limit are counted", "[device][host]") {
    HostFixture host(per_core());
    const std::string beyond = std::to_string(host::CpuSource::cores_max);
    host.proc("stat", "cpu  0 0 0 0\ncpu0 0 0 0 0\ncpu" + beyond + " 0 0 0 0\n");
    host.open();
    host.read();
    CHECK(host.integer("cpu.left_out") == 1);
    CHECK_FALSE(host.has_channel("cpu" + beyond + ".user"));
}
