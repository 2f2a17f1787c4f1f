#include "serial/serial_port.hpp"

#include "device/cancel_signal.hpp"
#include "device/pty.hpp"
#include "serial_fixture.hpp"
#include "support/catch.hpp"

#include <poll.h>

#include <chrono>

namespace telegate {
namespace {

using test::Pty;

SerialPortOptions options_of(const Pty& pty) {
    SerialPortOptions options;
    options.path = pty.path();
    return options;
}

bool has_input(const SerialPort& port) {
    const MonoTime until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    return wait_for(port.descriptor(), POLLIN, nullptr, until).woken == Woken::ready;
}

TEST_CASE("a port is set to raw bytes and its bit rate", "[device][serial]") {
    Pty pty;
    SerialPortOptions options = options_of(pty);
    options.baud = 460'800;
    options.stop_bits = 2;
    options.flow = SerialPortOptions::Flow::xonxoff;
    SerialPort port(options);
    REQUIRE(port.open());
    const termios mode = pty.mode();
    CHECK(::cfgetispeed(&mode) == B460800);
    CHECK((mode.c_cflag & CSTOPB) != 0);
    CHECK((mode.c_cflag & (HUPCL | CRTSCTS | PARENB)) == 0);
    CHECK((mode.c_iflag & (IXON | IXOFF)) == (IXON | IXOFF));
    CHECK((mode.c_iflag & (ICRNL | INLCR | IGNCR | ISTRIP | PARMRK)) == 0);
    CHECK((mode.c_lflag & (ICANON | ECHO | ISIG)) == 0);
}

TEST_CASE("a port that does not support the settings is not read", "[device][serial]") {
    Pty pty;  // has eight bits and no parity, always
    SerialPortOptions options = options_of(pty);
    options.data_bits = 7;
    options.parity = SerialPortOptions::Parity::even;
    SerialPort port(options);
    CHECK_FALSE(port.open());
    CHECK(port.fault() == pty.path() +
                              ": the port does not support this combination of baud, data_bits, parity, stop_bits and "
                              "flow: Invalid argument");
    CHECK_FALSE(port.is_open());
}

TEST_CASE("input before a port was opened is dropped", "[device][serial]") {
    Pty pty;
    SerialPort first(options_of(pty));
    REQUIRE(first.open());
    pty.say("old");
    REQUIRE(has_input(first));
    first.close();
    SerialPort second(options_of(pty));
    REQUIRE(second.open());
    char buffer[16];
    CHECK(second.read(buffer).status == SerialPort::Bytes::Status::none);
    pty.say("new");
    REQUIRE(has_input(second));
    CHECK(second.read(buffer).bytes == "new");
}

TEST_CASE("invalid options are refused with the reason", "[device][serial]") {
    const auto with = [](auto change) {
        SerialDriverOptions options = test::serial_options("/dev/ttyX");
        change(options);
        return make_serial_driver(options);
    };
    CHECK_THROWS_WITH(with([](auto& o) { o.port.path.clear(); }),
                      "port: invalid value: \"\"; must be the path of a tty");
    CHECK_THROWS_WITH(with([](auto& o) { o.port.baud = 9'601; }),
                      Catch::StartsWith("baud: invalid value: 9601; must be one of 300, 600, 1200, ") &&
                          Catch::EndsWith(", 4000000"));
    CHECK_THROWS_WITH(with([](auto& o) { o.format = LineFormat{.kind = LineFormat::Kind::csv}; }),
                      Catch::StartsWith("columns: "));
    CHECK_THROWS_WITH(with([](auto& o) { o.format = FrameFormat{}; }),
                      "frame_start: invalid length: 0 bytes; must be 1 to 8");
}

}  // namespace
}  // namespace telegate
