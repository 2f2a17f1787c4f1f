#pragma once

#include "device/exec_driver.hpp"
#include "exec/child_process.hpp"
#include "exec/json_reader.hpp"
#include "exec/last_line.hpp"
#include "lines/line_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate::exec {

/// What has happened while a command was waited for.
struct CommandEvent {
    bool is_cancelled = false;
    bool has_ended = false;
    bool has_output = false;
    bool has_errors = false;
};

/// A command, the lines that it prints, and what is said of it: what both modes of the driver have in common.
///
/// Threads: those of Driver.
/// Limits:  those of its parts; buffers of 16 KiB, 16 of them at a time.
/// Failure: the constructor throws std::invalid_argument; what reads may throw std::bad_alloc.
class CommandRun {
  public:
    explicit CommandRun(ExecDriverOptions options);

    void cancel_with(const CancelSignal& signal) noexcept { cancel_ = &signal; }
    void open(SampleBatch& batch);
    /// As Driver::later_channels().
    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const;

    /// As Driver::missing_parts().
    [[nodiscard]] std::vector<MissingPart> missing_parts() const;

    [[nodiscard]] const ExecDriverOptions& options() const noexcept { return options_; }
    [[nodiscard]] ChildProcess& child() noexcept { return child_; }
    [[nodiscard]] const CancelSignal* cancel() const noexcept { return cancel_; }
    [[nodiscard]] bool is_cancelled() const noexcept { return cancel_ != nullptr && cancel_->is_set(); }

    /// "" when it runs.
    [[nodiscard]] std::string start();
    /// The process was started by another thread. The kernel kills it when that one ends, if it has not yet.
    [[nodiscard]] bool is_of_another_thread() const noexcept;
    /// Waits for whatever comes first.
    [[nodiscard]] CommandEvent wait_until(MonoTime deadline) const noexcept;
    /// Takes what the process has printed, not more than a few buffers of it: samples of the one output, the last line
    /// of the other.
    void take_output(SampleBatch& batch);
    void take_errors() noexcept;
    /// The same for a process that has ended, with a last line that has no end.
    void take_rest(SampleBatch& batch);
    /// Throws away what was printed while nobody read, and counts its lines.
    void skip_output(SampleBatch& batch) noexcept;
    void tell_books(SampleBatch& batch, bool all);

    /// Of both outputs, since start().
    [[nodiscard]] bool has_printed_too_much() const noexcept { return bytes_ > options_.output_bytes_max; }
    /// Since start().
    [[nodiscard]] std::size_t good_lines() const noexcept { return good_; }
    /// Lines came since start(), and none of them could be read.
    [[nodiscard]] bool has_only_refused() const;
    [[nodiscard]] std::string why_refused() const;

    [[nodiscard]] ReadResult fail(std::string_view what, std::string_view more = {});
    /// The same with what the process said last.
    [[nodiscard]] ReadResult fail_with_last_words(std::string_view what);
    [[nodiscard]] ReadResult still_not_ended();
    /// For what a read has thrown, from within its handler; the process is ended.
    [[nodiscard]] ReadResult give_up() noexcept;

  private:
    using Reader = std::variant<LineReader, JsonReader>;

    /// -1 for nothing now, 0 for the end.
    [[nodiscard]] ssize_t read_some(int descriptor) noexcept;
    [[nodiscard]] std::uint64_t refused() const;
    [[nodiscard]] static Reader make_reader(const ExecDriverOptions& options);

    const ExecDriverOptions options_;
    const std::string name_;  // of the program, for messages
    const CancelSignal* cancel_ = nullptr;
    Reader reader_;
    std::unique_ptr<char[]> buffer_;
    std::size_t bytes_ = 0;
    std::size_t good_ = 0;  // lines, since start()
    std::uint64_t refused_before_ = 0;
    pid_t started_by_ = -1;  // a thread's number of the kernel's: those of the library are used again
    LastLine last_words_;
    std::string what_;
    ChildProcess child_;
};

}  // namespace telegate::exec
