#include "host_fixture.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;

TEST_CASE("pressure is a ten-second share and a total time", "[device][host]") {
    HostFixture host;
    host.proc(
        "pressure/memory",
        "some avg10=1.87 avg60=1.12 avg300=0.28 total=4716004\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=12\n");
    host.open();
    host.read();
    CHECK(host.real("psi.memory.some_avg10") == Approx(1.87));
    CHECK(host.integer("psi.memory.some_total") == 4'716'004);
    CHECK(host.real("psi.memory.full_avg10") == Approx(0.5));
    CHECK(host.integer("psi.memory.full_total") == 12);
    CHECK(host.unit("psi.memory.some_avg10") == "%");
    CHECK(host.unit("psi.memory.some_total") == "us");
}

TEST_CASE("a kernel without pressure files has no pressure channels", "[device][host]") {
    HostFixture host;
    host.open();
    host.read();
    CHECK_FALSE(host.has_channel("psi.cpu.some_avg10"));
    CHECK_FALSE(host.has_channel("psi.io.full_total"));
}

TEST_CASE("a pressure line that is missing at the start has no channels", "[device][host]") {
    HostFixture host;
    host.proc("pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
    host.open();
    host.read();
    CHECK(host.integer("psi.cpu.some_total") == 5);
    CHECK_FALSE(host.has_channel("psi.cpu.full_total"));
}

TEST_CASE("pressure that is no longer reported is absent", "[device][host]") {
    HostFixture host;
    host.proc("pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
    host.open();
    host.read();
    host.proc("pressure/io", "");
    host.read();
    CHECK(host.is_absent("psi.io.some_avg10"));
    CHECK(host.is_absent("psi.io.some_total"));
}
