#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace telegate::tail {

/// Signals that end the program: SIGINT and SIGTERM. They interrupt blocked system calls.
namespace stop_signals {
void install() noexcept;
/// Returns how many signals were received.
[[nodiscard]] int count() noexcept;
}  // namespace stop_signals

/// Buffered standard output.
///
/// Threads: one.
/// Limits: buffer_bytes plus one append; then it writes, and waits for the reader.
/// Failure: if the reader closes the pipe, the console is closed silently; other errors are kept in fault(). Output
/// after that is discarded.
class Console {
  public:
    static constexpr std::size_t buffer_bytes = std::size_t{64} * 1024;

    explicit Console(int descriptor = 1) noexcept : descriptor_(descriptor) {}

    /// Sets a fault if standard output was closed when the program started.
    void check();
    /// Returns the buffer. Append to it, then call added().
    [[nodiscard]] std::string& buffer() noexcept { return buffer_; }
    void added() {
        if (buffer_.size() >= buffer_bytes) {
            flush();
        }
    }
    void flush();

    [[nodiscard]] bool is_open() const noexcept { return is_open_; }
    /// Returns why the output cannot be written; "" if it can, or if the reader closed it.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
    [[nodiscard]] bool is_terminal() const noexcept;

  private:
    [[nodiscard]] bool wait_for_room();

    int descriptor_;
    std::string buffer_;
    bool is_open_ = true;
    std::string fault_;
};

/// Opens /dev/null for each of standard input, output and error that is closed, so that no other descriptor gets its
/// number and receives output. Standard output is then not writable; see Console::check(). Must be called first.
void hold_standard_descriptors() noexcept;

/// Writes a line to standard error, prefixed with the name of the program.
void say(std::string_view line);

}  // namespace telegate::tail
