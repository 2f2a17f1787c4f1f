#pragma once

#include "exec/child_process.hpp"
#include "exec/exec_driver.hpp"
#include "exec/last_line.hpp"
#include "lines/byte_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::exec {

/// Splits a command into words at blanks. Single quotes preserve everything literally. In double quotes a backslash
/// escapes a double quote or another backslash; elsewhere it escapes any character. Nothing is expanded: no $, no *, no
/// ~. Throws std::invalid_argument for an unterminated quote, a backslash at the end, or a command without words.
[[nodiscard]] std::vector<std::string> split_command(std::string_view text);

/// The events that occurred while waiting for a command.
struct CommandEvent {
    bool is_canceled = false;
    bool has_ended = false;
    bool has_output = false;
    bool has_errors = false;
};

/// A running command, its output lines and its error texts: the part that both modes of the driver share.
///
/// Threads: those of Driver.
/// Limits: those of its parts; buffers of 16 KiB, up to 16 per call.
/// Failure: the constructor throws std::invalid_argument; reading may throw std::bad_alloc.
class CommandRun {
  public:
    explicit CommandRun(ExecDriverOptions options);

    void cancel_with(const CancelSignal& signal) noexcept { cancel_ = &signal; }
    void open(SampleBatch& batch) { reader_->open(batch); }
    /// See Driver::later_channels().
    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const { return reader_->later_channels(); }
    /// See Driver::missing_parts().
    [[nodiscard]] std::vector<MissingPart> missing_parts() const;

    [[nodiscard]] const ExecDriverOptions& options() const noexcept { return options_; }
    [[nodiscard]] ChildProcess& child() noexcept { return child_; }
    [[nodiscard]] const CancelSignal* cancel() const noexcept { return cancel_; }
    [[nodiscard]] bool is_canceled() const noexcept { return cancel_ != nullptr && cancel_->is_set(); }

    /// Starts the command. Returns an error text, or "".
    [[nodiscard]] std::string start();
    /// Returns whether another thread started the process. The kernel kills the process when that thread ends.
    [[nodiscard]] bool is_of_another_thread() const noexcept;
    /// Waits until the first event, or until `deadline`.
    [[nodiscard]] CommandEvent wait_until(MonoTime deadline) const noexcept;
    /// Read what the process has printed, up to a few buffers: samples from stdout, the last line from stderr.
    void read_output(SampleBatch& batch);
    void read_errors() noexcept;
    /// Reads the remaining output of a process that has ended, including an unterminated last line.
    void read_rest(SampleBatch& batch);
    /// Discards output that was not read in time, and counts its lines.
    void skip_output(SampleBatch& batch) noexcept;
    void report_counts(SampleBatch& batch, bool all);

    /// Returns whether both outputs together exceed the limit since start().
    [[nodiscard]] bool has_printed_too_much() const noexcept { return bytes_ > options_.output_bytes_max; }
    /// Returns the number of valid lines since start().
    [[nodiscard]] std::size_t good_lines() const noexcept { return good_; }
    /// Returns whether there were lines since start() and all of them were refused.
    [[nodiscard]] bool has_only_refused() const noexcept { return good_ == 0 && reader_->refused() > refused_before_; }
    [[nodiscard]] std::string_view why_refused() const noexcept { return reader_->why_refused(); }

    [[nodiscard]] ReadResult fail(std::string_view what, std::string_view more = {});
    /// Like fail(), with the last line of stderr.
    [[nodiscard]] ReadResult fail_with_last_words(std::string_view what);
    [[nodiscard]] ReadResult still_not_ended();

  private:
    /// Returns the number of bytes; -1 if there are none now, 0 at the end.
    [[nodiscard]] ssize_t read_some(int descriptor) noexcept;

    const ExecDriverOptions options_;
    const std::string name_;  // program name in messages
    const CancelSignal* cancel_ = nullptr;
    const std::unique_ptr<ByteReader> reader_;
    std::unique_ptr<char[]> buffer_;
    std::size_t bytes_ = 0;
    std::size_t good_ = 0;  // lines since start()
    std::uint64_t refused_before_ = 0;
    pid_t started_by_ = -1;  // the kernel's thread id, because those of the library are reused
    LastLine last_words_;
    std::string what_;
    ChildProcess child_;
};

}  // namespace telegate::exec
