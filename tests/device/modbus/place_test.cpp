#include "modbus/link.hpp"
#include "support/catch.hpp"

#include <stdexcept>
#include <string>

using namespace telegate::modbus;

TEST_CASE("a network endpoint is a host and a port, 502 by default", "[device][modbus]") {
    const auto [text, host, port] = GENERATE(table<std::string, std::string, std::string>({
        {"tcp://10.0.0.5:1502", "10.0.0.5", "1502"},
        {"tcp://plc-7.example.org", "plc-7.example.org", "502"},
        {"tcp://[fe80::1%eth0]:502", "fe80::1%eth0", "502"},
        {"tcp://[::1]", "::1", "502"},
    }));
    CAPTURE(text);
    const auto place = std::get<TcpPlace>(parse_place(text));
    CHECK(place.host == host);
    CHECK(place.port == port);
}

TEST_CASE("a serial endpoint is the path of its device", "[device][modbus]") {
    CHECK(std::get<RtuPlace>(parse_place("rtu:///dev/serial/by-id/usb-0")).path == "/dev/serial/by-id/usb-0");
}

TEST_CASE("an invalid endpoint is refused", "[device][modbus]") {
    const std::string text =
        GENERATE("", "tcp://", "tcp://:502", "tcp://host:", "tcp://host:0", "tcp://host:65536", "tcp://host:502x",
                 "tcp://::1:502", "tcp://[::1", "tcp://[]:1", "tcp://[::1]502", "tcp://a b:1", "rtu://", "rtu:///",
                 "rtu://dev/ttyS0", "udp://host:1", "host:502");
    CAPTURE(text);
    CHECK_THROWS_AS(parse_place(text), std::invalid_argument);
}
