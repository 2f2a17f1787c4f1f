#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace telegate::tail {

/// Signals that ask the program to end: SIGINT and SIGTERM. They interrupt system calls that wait.
namespace stop_signals {
void install() noexcept;
/// How many have come.
[[nodiscard]] int count() noexcept;
}  // namespace stop_signals

/// Standard output behind a buffer.
///
/// Threads: one.
/// Limits:  buffer_bytes and what one append() adds; then it writes, and waits for who reads.
/// Failure: a reader that has gone closes it, quietly; another failure is kept in fault(). What is written then is
///          dropped.
class Console {
  public:
    static constexpr std::size_t buffer_bytes = std::size_t{64} * 1024;

    explicit Console(int descriptor = 1) noexcept : descriptor_(descriptor) {}

    /// A fault when it was closed when the program began.
    void check();
    /// Append to it, then call added().
    [[nodiscard]] std::string& buffer() noexcept { return buffer_; }
    void added() {
        if (buffer_.size() >= buffer_bytes) {
            flush();
        }
    }
    void flush();

    [[nodiscard]] bool is_open() const noexcept { return is_open_; }
    /// Why it cannot be written to; "" when it can, or when the reader has gone.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
    [[nodiscard]] bool is_terminal() const noexcept;
    /// Of the terminal; a usual one's when it does not say.
    [[nodiscard]] std::size_t rows() const noexcept;

  private:
    [[nodiscard]] bool wait_for_room();

    int descriptor_;
    std::string buffer_;
    bool is_open_ = true;
    std::string fault_;
};

/// Opens /dev/null for those of standard input, output and error that are closed, so that no other descriptor gets
/// their number and is written to. Output then takes nothing; see Console::check(). Call it first.
void hold_standard_descriptors() noexcept;

/// A line on standard error, with the name of the program.
void say(std::string_view line);

}  // namespace telegate::tail
