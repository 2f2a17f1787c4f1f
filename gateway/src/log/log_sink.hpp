#pragma once

#include "core/unique_fd.hpp"

#include <spdlog/sinks/base_sink.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>

namespace telegate {

/// Writes log lines to a descriptor or a file without waiting for a reader: the I/O thread logs too, and a paused
/// terminal or a pipe without reader must not block the gateway.
///
/// Threads: any; lines are written under the base class's mutex.
/// Limits: nothing is buffered: a line that cannot be written immediately is lost. A line has at most PIPE_BUF bytes.
/// Failure: lost lines are counted, and a line with their number precedes the next line that can be written. The
/// constructor with a path throws std::system_error with the path.
class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
  public:
    /// The sink does not close `descriptor`. `is_journal`: prefixes each line with its priority, as in sd-daemon(3).
    /// `is_json`: the format of the formatter.
    LogSink(int descriptor, bool is_journal, bool is_json = false);
    explicit LogSink(std::string path, bool is_json = false);

    /// Reopens the file, after it was renamed. If that fails, the old file stays in use. Does nothing without a path.
    [[nodiscard]] std::error_code reopen();

  protected:
    void sink_it_(const spdlog::details::log_msg& message) override;
    void flush_() override {}

  private:
    [[nodiscard]] bool write_line(const spdlog::details::log_msg& message);
    [[nodiscard]] bool can_write() const noexcept;

    const std::string path_;  // "": a descriptor
    const bool is_journal_;
    const bool is_json_;
    UniqueFd file_;  // none without a path
    int descriptor_;
    bool is_torn_ = false;  // the last line was written only in part
    std::uint64_t lost_ = 0;
};

/// Returns whether `journal_stream`, "DEVICE:INODE" from JOURNAL_STREAM, is `descriptor`, so that the journal reads it.
/// "": no.
[[nodiscard]] bool is_journal_stream(int descriptor, const std::string& journal_stream);

}  // namespace telegate
