#pragma once

#include "core/clock.hpp"
#include "device/driver.hpp"
#include "device/frame_format.hpp"
#include "device/line_format.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>

namespace telegate {

/// How a tty is set.
struct SerialPortOptions {
    enum class Parity : std::uint8_t { none, even, odd };
    enum class Flow : std::uint8_t { none, rtscts, xonxoff };

    std::string path;  // best one that stays the same, such as /dev/serial/by-id/...
    std::int64_t baud = 9'600;
    std::int64_t data_bits = 8;  // 5 to 8
    Parity parity = Parity::none;
    std::int64_t stop_bits = 1;  // 1 or 2
    Flow flow = Flow::none;
};

struct SerialDriverOptions {
    SerialPortOptions port;
    std::variant<LineFormat, FrameFormat> format;
    LineLimits limits;  // for lines
    /// After opening, what comes before the first line end may be the rest of a line and does not count.
    bool skip_first_line = true;
    /// So long without a good line or frame is a failed read; zero: never.
    Duration silence_max = std::chrono::seconds(10);
};

/// The rates that a port may have, in ascending order.
[[nodiscard]] std::span<const std::int64_t> serial_bauds() noexcept;

/// A device that sends lines or frames over a tty, of its own accord. It is opened by the first read, used exclusively,
/// and opened again after it was unplugged. Nothing is ever sent to it. docs/drivers/serial.md says more.
/// Throws std::invalid_argument for options that cannot be; the text names the setting.
[[nodiscard]] std::unique_ptr<Driver> make_serial_driver(const SerialDriverOptions& options);

}  // namespace telegate
