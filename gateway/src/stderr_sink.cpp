#include "stderr_sink.hpp"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace telegate {

bool StderrSink::can_write() const noexcept {
    pollfd waiting{descriptor_, POLLOUT, 0};
    return ::poll(&waiting, 1, 0) == 1 && (waiting.revents & POLLOUT) != 0;
}

void StderrSink::sink_it_(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t line;
    if (lost_ > 0) {
        const std::string notice = "log lines lost=" + std::to_string(lost_) + ": nobody read them\n";
        line.append(notice.data(), notice.data() + notice.size());
    }
    formatter_->format(message, line);
    // A pipe that is ready takes this much whole.
    const std::size_t bytes = std::min<std::size_t>(line.size(), PIPE_BUF);
    if (bytes < line.size()) {
        line.data()[bytes - 1] = '\n';
    }
    const bool written = can_write() && ::write(descriptor_, line.data(), bytes) > 0;
    lost_ = written ? 0 : lost_ + 1;
}

}  // namespace telegate
