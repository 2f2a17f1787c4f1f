#include "console.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <iostream>
#include <system_error>

namespace telegate::tail {
namespace {

volatile std::sig_atomic_t signals_seen = 0;

extern "C" void see_signal(int /*signal*/) {
    signals_seen = signals_seen + 1;
}

/// How long a slow reader of the output can delay the end of the program. A pipe that is writable has space for
/// PIPE_BUF bytes, so a write never blocks while a signal would go unnoticed.
constexpr int last_words_ms = 200;

}  // namespace

namespace stop_signals {

void install() noexcept {
    struct sigaction action {};
    action.sa_handler = see_signal;  // without SA_RESTART: a signal interrupts a blocked write
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);  // a closed reader is reported as an error code
}

int count() noexcept {
    return signals_seen;
}

}  // namespace stop_signals

void Console::check() {
    const int flags = ::fcntl(descriptor_, F_GETFL);
    if (flags == -1 || (static_cast<unsigned>(flags) & static_cast<unsigned>(O_ACCMODE)) == O_RDONLY) {
        is_open_ = false;
        fault_ = "standard output is closed";
    }
}

/// Waits until a write does not block. Returns false if a stop signal arrives while the output is blocked.
bool Console::wait_for_room() {
    pollfd ready{descriptor_, POLLOUT, 0};
    while (::poll(&ready, 1, last_words_ms) <= 0) {
        if (stop_signals::count() > 0) {
            is_open_ = false;
            return false;
        }
    }
    return true;
}

void Console::flush() {
    std::string_view left = buffer_;
    while (is_open_ && !left.empty() && wait_for_room()) {
        const ssize_t written = ::write(descriptor_, left.data(), std::min<std::size_t>(left.size(), PIPE_BUF));
        if (written >= 0) {
            left.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR && errno != EAGAIN) {
            is_open_ = false;
            fault_ = errno == EPIPE ? "" : std::generic_category().message(errno);
        }
    }
    buffer_.clear();
}

bool Console::is_terminal() const noexcept {
    return ::isatty(descriptor_) == 1;
}

void hold_standard_descriptors() noexcept {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(descriptor, F_GETFD) == -1) {
            // open() returns the lowest free number, which is this one. Standard output is read-only, so that lost
            // samples are noticed; messages to standard error may be discarded.
            static_cast<void>(::open("/dev/null", descriptor == STDERR_FILENO ? O_RDWR : O_RDONLY));
        }
    }
}

void say(std::string_view line) {
    std::string text = "gateway_tail: ";
    text.append(line).append("\n");
    std::cerr << text;
}

}  // namespace telegate::tail
