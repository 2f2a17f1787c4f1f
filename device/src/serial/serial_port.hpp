#pragma once

#include "device/cancel_signal.hpp"
#include "device/serial_driver.hpp"

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace telegate {

/// A tty that is read: raw bytes, no echo, exclusively.
///
/// Threads: the one that reads the device; the destructor any.
/// Limits:  one descriptor. Nothing waits but wait().
/// Failure: open() and read() say what the system said; the constructor throws std::invalid_argument for a setting that
///          no port can have.
class SerialPort {
  public:
    enum class Event : std::uint8_t { bytes, nothing, cancelled };
    struct Bytes {
        enum class Status : std::uint8_t { some, none, gone };
        Status status = Status::none;
        std::string_view bytes;  // within the caller's buffer
    };

    explicit SerialPort(SerialPortOptions options);
    ~SerialPort();
    SerialPort(const SerialPort&) = delete;
    SerialPort& operator=(const SerialPort&) = delete;

    /// Opens and sets it; what came before is dropped. False when it cannot be; fault() has the reason.
    bool open();
    void close() noexcept;
    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

    /// Until there is something to read, or the end of it; `cancel` may be null.
    [[nodiscard]] Event wait(const CancelSignal* cancel, std::chrono::milliseconds time_max) const noexcept;
    /// What there is now. `gone`: there is no port any more; fault() has the reason.
    [[nodiscard]] Bytes read(std::span<char> buffer);

    /// Names the port and what was wrong last.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
    [[nodiscard]] const std::string& path() const noexcept { return options_.path; }

  private:
    [[nodiscard]] bool take_exclusively();
    [[nodiscard]] bool set_mode();
    /// Keeps errno in words; closes.
    bool fail(const char* what);

    const SerialPortOptions options_;
    int descriptor_ = -1;
    std::string fault_;
};

}  // namespace telegate
