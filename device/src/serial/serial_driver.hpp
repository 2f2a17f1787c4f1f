#pragma once

#include "core/clock.hpp"
#include "device/driver.hpp"
#include "lines/line_format.hpp"
#include "serial/frame_reader.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

namespace telegate {

/// Settings of a tty.
struct SerialPortOptions {
    enum class Parity : std::uint8_t { none, even, odd };
    enum class Flow : std::uint8_t { none, rtscts, xonxoff };

    std::string path;  // preferably a stable path, such as /dev/serial/by-id/...
    std::int64_t baud = 9'600;
    std::int64_t data_bits = 8;
    Parity parity = Parity::none;
    std::int64_t stop_bits = 1;
    Flow flow = Flow::none;
};

/// Also the settings of a device with the driver serial, which limit the values.
struct SerialDriverOptions {
    SerialPortOptions port;
    std::variant<LineFormat, FrameFormat> format;
    LineLimits limits;  // for lines
    /// After opening, ignore the data before the first line end, which may be the rest of a line.
    bool skip_first_line = true;
    /// A reading fails after this time without a valid line or frame; zero: never.
    Duration silence_max = std::chrono::seconds(10);
};

/// Creates a driver for a device that sends lines or frames over a tty on its own. The first read opens the tty for
/// exclusive use; after it was unplugged it is opened again. The driver never sends anything to the device. See
/// docs/drivers/serial.md. Throws std::invalid_argument for invalid options; the text names the setting.
[[nodiscard]] std::unique_ptr<Driver> make_serial_driver(const SerialDriverOptions& options);

}  // namespace telegate
