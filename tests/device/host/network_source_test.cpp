#include "host/counter_rows.hpp"
#include "host_fixture.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

const std::string heading =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier "
    "compressed\n";

/// Returns a line of net/dev.
std::string interface(const std::string& name, std::uint64_t rx_bytes, std::uint64_t rx_packets = 0,
                      std::uint64_t tx_bytes = 0, std::uint64_t tx_packets = 0) {
    const auto number = [](std::uint64_t value) {
        return std::to_string(value) + ' ';
    };
    return "  " + name + ": " + number(rx_bytes) + number(rx_packets) + "1 2 0 0 0 0 " + number(tx_bytes) +
           number(tx_packets) + "3 4 0 0 0 0\n";
}

}  // namespace

TEST_CASE("an interface has its counters from the first read and its rates from the second", "[device][host]") {
    HostFixture host;
    host.proc("net/dev", heading + interface("lo", 5, 6, 5, 6) + interface("eth0", 1'000, 10, 500, 5));
    host.open();
    host.read();
    CHECK(host.integer("net.eth0.rx_bytes") == 1'000);
    CHECK(host.integer("net.eth0.rx_packets") == 10);
    CHECK(host.integer("net.eth0.rx_errors") == 1);
    CHECK(host.integer("net.eth0.rx_drops") == 2);
    CHECK(host.integer("net.eth0.tx_bytes") == 500);
    CHECK(host.integer("net.eth0.tx_packets") == 5);
    CHECK(host.integer("net.eth0.tx_errors") == 3);
    CHECK(host.integer("net.eth0.tx_drops") == 4);
    CHECK(host.integer("net.lo.rx_bytes") == 5);
    CHECK(host.is_absent("net.eth0.rx_rate"));
    host.proc("net/dev", heading + interface("lo", 5, 6, 5, 6) + interface("eth0", 3'000, 30, 900, 9));
    host.read(500ms);
    CHECK(host.real("net.eth0.rx_rate") == Approx(4'000.0));
    CHECK(host.real("net.eth0.rx_packets_rate") == Approx(40.0));
    CHECK(host.real("net.eth0.tx_rate") == Approx(800.0));
    CHECK(host.real("net.eth0.tx_packets_rate") == Approx(8.0));
    CHECK(host.real("net.lo.rx_rate") == Approx(0.0));
}

TEST_CASE("the headings of net/dev are not interfaces", "[device][host]") {
    HostFixture host;
    host.open();
    const std::size_t channels = host.channels();
    HostFixture with_headings;
    with_headings.proc("net/dev", heading);
    with_headings.open();
    with_headings.read();
    CHECK(with_headings.channels() == channels);
    CHECK(with_headings.integer("net.left_out") == 0);
}

TEST_CASE("a number that touches the colon of its interface is read", "[device][host]") {
    HostFixture host;
    host.proc("net/dev", heading + "eth0:71858158 1734 0 0 0 0 0 0 84991 940 0 0 0 0 0 0\n");
    host.open();
    host.read();
    CHECK(host.integer("net.eth0.rx_bytes") == 71'858'158);
    CHECK(host.integer("net.eth0.tx_packets") == 940);
}

TEST_CASE("a rate continues across the overflow of a 32-bit counter", "[device][host]") {
    HostFixture host;
    host.proc("net/dev", interface("eth0", 4'294'967'295, 4'294'967'290));
    host.open();
    host.read();
    host.proc("net/dev", interface("eth0", 999, 4));
    host.read();
    CHECK(host.real("net.eth0.rx_rate") == Approx(1'000.0));
    CHECK(host.real("net.eth0.rx_packets_rate") == Approx(10.0));
}

TEST_CASE("a counter that was reset has no rate once", "[device][host]") {
    const std::uint64_t before = GENERATE(std::uint64_t{1'000}, std::uint64_t{3'000'000'000}, std::uint64_t{1} << 40);
    CAPTURE(before);
    HostFixture host;
    host.proc("net/dev", interface("eth0", before));
    host.open();
    host.read();
    host.proc("net/dev", interface("eth0", 10));
    host.read();
    CHECK(host.is_absent("net.eth0.rx_rate"));
    CHECK(host.integer("net.eth0.rx_bytes") == 10);
    host.proc("net/dev", interface("eth0", 60));
    host.read();
    CHECK(host.real("net.eth0.rx_rate") == Approx(50.0));
}

TEST_CASE("after a reset of the driver rates restart", "[device][host]") {
    HostFixture host;
    host.proc("net/dev", interface("eth0", 10));
    host.open();
    host.read();
    host.reset();
    host.read();
    CHECK(host.is_absent("net.eth0.rx_rate"));
    host.read();
    CHECK(host.real("net.eth0.rx_rate") == Approx(0.0));
}

TEST_CASE("two reads at the same time have no rate between them", "[device][host]") {
    HostFixture host;
    host.proc("net/dev", interface("eth0", 10));
    host.open();
    host.read();
    host.proc("net/dev", interface("eth0", 20));
    host.read(0s);
    CHECK(host.is_absent("net.eth0.rx_rate"));
}

TEST_CASE("an interface disappears, returns and continues in the same channels", "[device][host]") {
    HostFixture host;
    host.proc("net/dev", interface("lo", 1));
    host.open();
    host.read();
    host.proc("net/dev", interface("wg0", 100) + interface("lo", 1));
    host.read();
    CHECK(host.integer("net.wg0.rx_bytes") == 100);
    CHECK(host.is_absent("net.wg0.rx_rate"));
    const std::size_t channels = host.channels();
    host.proc("net/dev", interface("lo", 1));
    host.read();
    CHECK(host.is_absent("net.wg0.rx_bytes"));
    CHECK(host.integer("net.lo.rx_bytes") == 1);
    host.proc("net/dev", interface("lo", 1) + interface("wg0", 7));
    host.read();
    CHECK(host.integer("net.wg0.rx_bytes") == 7);
    CHECK(host.is_absent("net.wg0.rx_rate"));
    CHECK(host.channels() == channels);
}

TEST_CASE("interfaces with equal topic parts have different channels", "[device][host]") {
    HostFixture host;
    host.proc("net/dev", interface("eth0", 1) + interface("ETH0", 2) + interface("Eth0", 3));
    host.open();
    host.read();
    CHECK(host.integer("net.eth0.rx_bytes") == 1);
    CHECK(host.integer("net.eth0_2.rx_bytes") == 2);
    CHECK(host.integer("net.eth0_3.rx_bytes") == 3);
}

TEST_CASE("interfaces beyond the limit are counted", "[device][host]") {
    HostFixture host;
    std::string text = heading;
    for (std::size_t number = 0; number < host::CounterRows::rows_max; ++number) {
        text += interface("veth" + std::to_string(number), number);
    }
    host.proc("net/dev", text);
    host.open();
    host.read();
    CHECK(host.integer("net.left_out") == 0);
    host.proc("net/dev", text + interface("eth0", 1) + interface("eth1", 1));
    host.read();
    CHECK(host.integer("net.left_out") == 2);
    host.read();
    CHECK(host.integer("net.left_out") == 2);
    CHECK(host.integer("net.veth63.rx_bytes") == 63);
}

TEST_CASE("from a table larger than the buffer the whole lines that fit are read", "[device][host]") {
    HostFixture host;
    const std::string wide(1'000, '0');  // leading zeros: 64 lines do not fit in 64 KiB
    std::string text;
    for (std::size_t number = 0; number < host::CounterRows::rows_max; ++number) {
        text += "if" + std::to_string(number) + ": " + wide + "5 1 0 0 0 0 0 0 7" + wide + '\n';
    }
    REQUIRE(text.size() > 64 * 1024);
    host.proc("net/dev", text);
    host.open();
    host.read();
    CHECK(host.integer("net.if0.rx_bytes") == 5);
    CHECK_FALSE(host.has_channel("net.if63.rx_bytes"));
}
