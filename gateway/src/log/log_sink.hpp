#pragma once

#include <spdlog/sinks/base_sink.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>

namespace telegate {

/// Writes log lines to a descriptor or a file without ever waiting for a reader: the io thread logs too, and a terminal
/// that is held or a pipe that nobody empties must not stop the gateway.
///
/// Threads: any; lines are written under the base's mutex.
/// Limits:  nothing is kept: a line that does not go at once is lost. A line has at most PIPE_BUF bytes.
/// Failure: lost lines are counted, and the next line that goes is preceded by one that says how many. The constructor
///          with a path throws std::system_error, which names it.
class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
  public:
    /// `descriptor` is not closed. `is_journal`: each line begins with its priority, as in sd-daemon(3).
    /// `is_json`: what the formatter expects.
    LogSink(int descriptor, bool is_journal, bool is_json = false);
    explicit LogSink(std::string path, bool is_json = false);
    ~LogSink() override;

    /// Opens the file anew, after somebody has renamed it. When that fails, the old one stays. Without a path: nothing.
    [[nodiscard]] std::error_code reopen();

  protected:
    void sink_it_(const spdlog::details::log_msg& message) override;
    void flush_() override {}

  private:
    [[nodiscard]] bool write_line(const spdlog::details::log_msg& message);
    [[nodiscard]] bool can_write() const noexcept;

    const std::string path_;  // "" for a descriptor
    const bool is_journal_;
    const bool is_json_;
    int descriptor_;
    bool is_torn_ = false;  // the last line went in part
    std::uint64_t lost_ = 0;
};

/// Whether `descriptor` is what JOURNAL_STREAM, "DEVICE:INODE", names: the journal reads it. "" names nothing.
[[nodiscard]] bool is_journal_stream(int descriptor, const std::string& journal_stream);

}  // namespace telegate
