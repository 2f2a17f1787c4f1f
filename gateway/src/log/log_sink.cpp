#include "log/log_sink.hpp"

#include "log/log_line.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

/// Returns no descriptor, and leaves the reason in errno, if the file cannot be opened. Does not wait for the reader of
/// a FIFO.
UniqueFd open_file(const std::string& path) noexcept {
    constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    constexpr mode_t owner_writes_group_reads = 0640;
    return UniqueFd(::open(path.c_str(), flags, owner_writes_group_reads));
}

std::string_view priority(spdlog::level::level_enum level) noexcept {
    switch (level) {
        case spdlog::level::trace:
        case spdlog::level::debug: return "<7>";
        case spdlog::level::warn: return "<4>";
        case spdlog::level::err: return "<3>";
        case spdlog::level::critical: return "<2>";
        default: return "<6>";
    }
}

}  // namespace

LogSink::LogSink(int descriptor, bool is_journal, bool is_json)
    : is_journal_(is_journal), is_json_(is_json), descriptor_(descriptor) {}

LogSink::LogSink(std::string path, bool is_json)
    : path_(std::move(path)), is_journal_(false), is_json_(is_json), file_(open_file(path_)), descriptor_(file_.get()) {
    if (descriptor_ < 0) {
        throw std::system_error(errno, std::generic_category(), path_);
    }
}

std::error_code LogSink::reopen() {
    const std::lock_guard lock(mutex_);
    if (path_.empty()) {
        return {};
    }
    UniqueFd fresh = open_file(path_);
    if (fresh.get() < 0) {
        return {errno, std::generic_category()};
    }
    file_ = std::move(fresh);
    descriptor_ = file_.get();
    is_torn_ = false;
    return {};
}

bool LogSink::can_write() const noexcept {
    pollfd waiting{descriptor_, POLLOUT, 0};
    return ::poll(&waiting, 1, 0) == 1 && (waiting.revents & POLLOUT) != 0;
}

void LogSink::sink_it_(const spdlog::details::log_msg& message) {
    if (lost_ > 0) {
        const LogLine line = LogLine("log lines").add("lost", lost_);
        const std::string text = is_json_ ? line.json_members(PIPE_BUF) : line.text();
        const spdlog::details::log_msg notice(message.time, {}, message.logger_name, spdlog::level::warn, text);
        if (!write_line(notice)) {
            ++lost_;
            return;
        }
        lost_ = 0;
    }
    if (!write_line(message)) {
        ++lost_;
    }
}

/// Returns whether the whole line was written.
bool LogSink::write_line(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t line;
    if (is_torn_) {
        line.push_back('\n');
    }
    if (is_journal_) {
        const std::string_view number = priority(message.level);
        line.append(number.data(), number.data() + number.size());
    }
    formatter_->format(message, line);
    // A pipe that is ready takes this many bytes atomically.
    const std::size_t bytes = std::min<std::size_t>(line.size(), PIPE_BUF);
    line.data()[bytes - 1] = '\n';
    const ssize_t written = can_write() ? ::write(descriptor_, line.data(), bytes) : -1;
    if (written > 0) {
        is_torn_ = static_cast<std::size_t>(written) < bytes;  // the disk is full
    }
    return written == static_cast<ssize_t>(bytes);
}

bool is_journal_stream(int descriptor, const std::string& journal_stream) {
    struct stat status {};
    return !journal_stream.empty() && ::fstat(descriptor, &status) == 0 &&
           journal_stream == std::to_string(status.st_dev) + ':' + std::to_string(status.st_ino);
}

}  // namespace telegate
