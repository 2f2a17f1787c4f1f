#include "host_fixture.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;

TEST_CASE("memory and swap are in bytes", "[device][host]") {
    HostFixture host;
    host.proc(
        "meminfo",
        "MemTotal:        1000 kB\nMemFree:          300 kB\nMemAvailable:     600 kB\nBuffers:           20 kB\n"
        "Cached:           250 kB\nSwapCached:         7 kB\nSwapTotal:        500 kB\nSwapFree:         450 kB\n");
    host.open();
    host.read();
    CHECK(host.integer("mem.total") == 1000 * 1024);
    CHECK(host.integer("mem.free") == 300 * 1024);
    CHECK(host.integer("mem.available") == 600 * 1024);
    CHECK(host.integer("mem.buffers") == 20 * 1024);
    CHECK(host.integer("mem.cached") == 250 * 1024);
    CHECK(host.integer("mem.used") == 400 * 1024);
    CHECK(host.integer("swap.total") == 500 * 1024);
    CHECK(host.integer("swap.free") == 450 * 1024);
    CHECK(host.integer("swap.used") == 50 * 1024);
    CHECK(host.unit("mem.used") == "By");
}

TEST_CASE("a missing memory field is absent, and so are values calculated from it", "[device][host]") {
    HostFixture host;
    host.proc("meminfo", "MemTotal: 1000 kB\nMemFree: 300 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
    host.open();
    host.read();
    CHECK(host.is_absent("mem.available"));
    CHECK(host.is_absent("mem.used"));
    CHECK(host.integer("mem.free") == 300 * 1024);
    CHECK(host.integer("swap.used") == 0);
}

TEST_CASE("a memory field that is not a size is absent", "[device][host]") {
    const std::string bad = GENERATE("", "lots", "-5", "12x", "99999999999999999999", "9223372036854775807");
    CAPTURE(bad);
    HostFixture host;
    host.proc("meminfo", "MemTotal: 1000 kB\nMemFree: " + bad + " kB\n");
    host.open();
    host.read();
    CHECK(host.is_absent("mem.free"));
    CHECK(host.integer("mem.total") == 1000 * 1024);
}
