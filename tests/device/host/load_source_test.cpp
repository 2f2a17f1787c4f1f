#include "host_fixture.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;

TEST_CASE("load, tasks and uptime are the kernel's values", "[device][host]") {
    HostFixture host;
    host.proc("loadavg", "0.25 1.50 12.75 3/417 5856\n");
    host.proc("uptime", "1372.78 2696.26\n");
    host.open();
    host.read();
    CHECK(host.real("load.1m") == Approx(0.25));
    CHECK(host.real("load.5m") == Approx(1.5));
    CHECK(host.real("load.15m") == Approx(12.75));
    CHECK(host.integer("tasks.running") == 3);
    CHECK(host.integer("tasks.total") == 417);
    CHECK(host.real("uptime") == Approx(1372.78));
    CHECK(host.unit("uptime") == "s");
}

TEST_CASE("load fields that are missing or not numbers are absent, the others are not", "[device][host]") {
    HostFixture host;
    host.proc("loadavg", "0.25 high 12.75\n");
    host.proc("uptime", "");
    host.open();
    host.read();
    CHECK(host.real("load.1m") == Approx(0.25));
    CHECK(host.is_absent("load.5m"));
    CHECK(host.real("load.15m") == Approx(12.75));
    CHECK(host.is_absent("tasks.running"));
    CHECK(host.is_absent("tasks.total"));
    CHECK(host.is_absent("uptime"));
}
