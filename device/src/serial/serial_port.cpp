#include "serial/serial_port.hpp"
#include "device/option_error.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

using Parity = SerialPortOptions::Parity;
using Flow = SerialPortOptions::Flow;

// The same rates in the same order: as numbers and as system constants.
constexpr std::array<std::int64_t, 24> bauds{300,       600,       1'200,     1'800,     2'400,     4'800,
                                             9'600,     19'200,    38'400,    57'600,    115'200,   230'400,
                                             460'800,   500'000,   576'000,   921'600,   1'000'000, 1'152'000,
                                             1'500'000, 2'000'000, 2'500'000, 3'000'000, 3'500'000, 4'000'000};
constexpr std::array<speed_t, bauds.size()> speeds{
    B300,    B600,    B1200,   B1800,   B2400,    B4800,    B9600,    B19200,   B38400,   B57600,   B115200,  B230400,
    B460800, B500000, B576000, B921600, B1000000, B1152000, B1500000, B2000000, B2500000, B3000000, B3500000, B4000000};

/// Returns the system constant; B0 for other rates.
speed_t to_speed(std::int64_t baud) noexcept {
    for (std::size_t i = 0; i < bauds.size(); ++i) {
        if (bauds[i] == baud) {
            return speeds[i];
        }
    }
    return B0;
}

tcflag_t to_size(std::int64_t data_bits) noexcept {
    switch (data_bits) {
        case 5: return CS5;
        case 6: return CS6;
        case 7: return CS7;
        default: return CS8;
    }
}

SerialPortOptions checked(SerialPortOptions options) {
    if (options.path.empty()) {
        refuse_value("port", "\"\"", "the path of a tty");
    }
    if (to_speed(options.baud) == B0) {
        refuse_value("baud", std::to_string(options.baud), one_of(bauds));
    }
    return options;
}

/// Sets raw mode, in which a single byte wakes the reader. A byte with a parity or framing error is read as NUL, which
/// no line may contain. Closing keeps the modem lines unchanged, so that it does not reset a device.
void set_flags(const SerialPortOptions& options, termios& mode) noexcept {
    ::cfmakeraw(&mode);
    mode.c_cflag &= ~static_cast<tcflag_t>(CSIZE | PARENB | PARODD | CSTOPB | CRTSCTS | HUPCL);
    mode.c_cflag |= CREAD | CLOCAL | to_size(options.data_bits);
    mode.c_cflag |= options.parity == Parity::none ? 0U : PARENB;
    mode.c_cflag |= options.parity == Parity::odd ? PARODD : 0U;
    mode.c_cflag |= options.stop_bits == 2 ? CSTOPB : 0U;
    mode.c_cflag |= options.flow == Flow::rtscts ? CRTSCTS : 0U;
    mode.c_iflag &= ~static_cast<tcflag_t>(IXON | IXOFF | IXANY | INPCK | IGNPAR | PARMRK);
    mode.c_iflag |= options.parity == Parity::none ? 0U : INPCK;
    mode.c_iflag |= options.flow == Flow::xonxoff ? IXON | IXOFF : 0U;
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
}

}  // namespace

SerialPort::SerialPort(SerialPortOptions options) : options_(checked(std::move(options))) {}

bool SerialPort::open() {
    close();
    // Without O_NONBLOCK, open() would wait for a modem's carrier. Read-only access needs fewer permissions.
    descriptor_ = UniqueFd(::open(options_.path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    if (!is_open()) {
        return fail("");
    }
    if (::isatty(descriptor_.get()) == 0) {
        return fail("not a tty: ");
    }
    return lock_exclusively() && set_mode();
}

/// TIOCEXCL prevents others from opening the port, except root; other serial programs check the lock.
bool SerialPort::lock_exclusively() {
    if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
        return fail(errno == EWOULDBLOCK ? "in use by another program: " : "cannot lock: ");
    }
    return ::ioctl(descriptor_.get(), TIOCEXCL) == 0 || fail("cannot get exclusive access: ");
}

bool SerialPort::set_mode() {
    termios mode{};
    if (::tcgetattr(descriptor_.get(), &mode) != 0) {
        return fail("tcgetattr: ");
    }
    set_flags(options_, mode);
    const speed_t speed = to_speed(options_.baud);
    if (::cfsetispeed(&mode, speed) != 0 || ::cfsetospeed(&mode, speed) != 0 ||
        ::tcsetattr(descriptor_.get(), TCSANOW, &mode) != 0) {
        return fail("tcsetattr: ");
    }
    // tcsetattr() succeeds if it could apply any part of the mode.
    termios in_force{};
    constexpr tcflag_t needed = CSIZE | PARENB | PARODD | CSTOPB | CRTSCTS;
    if (::tcgetattr(descriptor_.get(), &in_force) != 0 || ::cfgetispeed(&in_force) != speed ||
        (in_force.c_cflag & needed) != (mode.c_cflag & needed)) {
        errno = EINVAL;
        return fail(
            "the port does not support this combination of baud, data_bits, parity, stop_bits and "
            "flow: ");
    }
    return ::tcflush(descriptor_.get(), TCIFLUSH) == 0 || fail("tcflush: ");
}

SerialPort::Bytes SerialPort::read(std::span<char> buffer) {
    const ssize_t count = ::read(descriptor_.get(), buffer.data(), buffer.size());
    if (count > 0) {
        return {Bytes::Status::some, {buffer.data(), static_cast<std::size_t>(count)}};
    }
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
        return {};
    }
    errno = count == 0 ? EIO : errno;  // read() returns 0 after a hangup
    fail("disconnected: ");
    return {Bytes::Status::gone, {}};
}

bool SerialPort::fail(const char* what) {
    const std::error_code error(errno, std::system_category());
    close();
    fault_ = options_.path + ": " + what + error.message();
    return false;
}

}  // namespace telegate
