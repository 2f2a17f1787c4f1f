#pragma once

#include "core/unique_fd.hpp"
#include "serial/serial_driver.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace telegate {

/// A tty opened for reading: raw bytes, no echo, exclusive access.
///
/// Threads: the one that reads the device; the destructor any.
/// Limits: one descriptor. Nothing blocks.
/// Failure: open() and read() provide the error of the system; the constructor throws std::invalid_argument for an
/// invalid setting.
class SerialPort {
  public:
    struct Bytes {
        enum class Status : std::uint8_t { some, none, gone };
        Status status = Status::none;
        std::string_view bytes;  // views the caller's buffer
    };

    explicit SerialPort(SerialPortOptions options);

    /// Opens and configures the port, and drops earlier input. Returns false if that fails; fault() has the reason.
    bool open();
    void close() noexcept { descriptor_ = {}; }
    [[nodiscard]] bool is_open() const noexcept { return descriptor_.get() >= 0; }
    /// Returns the descriptor to wait for; -1 when closed.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

    /// Reads available bytes. `gone`: the port has disappeared; fault() has the reason.
    [[nodiscard]] Bytes read(std::span<char> buffer);

    /// Returns the port and the last error.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
    [[nodiscard]] const std::string& path() const noexcept { return options_.path; }

  private:
    [[nodiscard]] bool lock_exclusively();
    [[nodiscard]] bool set_mode();
    /// Stores the text of errno; closes the port.
    bool fail(const char* what);

    const SerialPortOptions options_;
    UniqueFd descriptor_;
    std::string fault_;
};

}  // namespace telegate
