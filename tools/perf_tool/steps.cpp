#include "steps.hpp"

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <ostream>
#include <utility>

namespace telegate::perf {

namespace {

sigset_t interrupts() {
    sigset_t signals{};
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGINT);
    ::sigaddset(&signals, SIGTERM);
    return signals;
}

}  // namespace

void block_interrupts() {
    const sigset_t signals = interrupts();
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

bool is_interrupted() {
    sigset_t pending{};
    ::sigpending(&pending);
    return ::sigismember(&pending, SIGINT) == 1 || ::sigismember(&pending, SIGTERM) == 1;
}

void wait_seconds(double seconds) {
    const sigset_t signals = interrupts();
    const double whole = std::floor(seconds);
    const timespec time{static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
    if (::sigtimedwait(&signals, nullptr, &time) > 0) {
        throw Interrupted();
    }
}

Steps::Steps(std::size_t runs, Output output, std::function<void(std::size_t)> on_tables)
    : runs_(runs), output_(output), on_tables_(std::move(on_tables)) {}

Steps::~Steps() {
    clear();
}

void Steps::next(std::string_view what) {
    check();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    ++begun_;
    clear();
    output_.out << "step " << begun_;
    if (expected_ > 0) {
        output_.out << " of " << expected_;
    }
    output_.out << ": " << what;
    if (begun_ > 1 && expected_ >= begun_) {
        const auto left = static_cast<double>(expected_ - begun_ + 1);
        output_.out << ", about " << std::ceil(seconds / static_cast<double>(begun_ - 1) * left) << " s left";
    }
    has_line_ = output_.is_terminal;
    has_line_ ? output_.out.flush() : output_.out << '\n';
}

void Steps::check() {
    wait_seconds(0);
}

void Steps::tables(std::size_t complete) {
    clear();
    if (on_tables_) {
        on_tables_(complete);
    }
}

void Steps::clear() {
    if (has_line_) {
        output_.out << "\r\x1b[K" << std::flush;
        has_line_ = false;
    }
}

}  // namespace telegate::perf
