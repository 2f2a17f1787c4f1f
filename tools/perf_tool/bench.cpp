#include "bench.hpp"

#include <signal.h>

#include <cmath>
#include <ctime>
#include <exception>
#include <ostream>

namespace telegate::perf {

namespace {

sigset_t interrupts() {
    sigset_t signals{};
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGINT);
    ::sigaddset(&signals, SIGTERM);
    return signals;
}

void run_once(const Group& group, Steps& steps) {
    for (const Engine& engine : group.engines) {
        steps.next(group.title + ", " + engine.name);
        try {
            engine.run();
        } catch (const std::exception& error) {
            // Child processes get an interrupt of the terminal, too, so their end may be noticed first.
            if (dynamic_cast<const Interrupted*>(&error) != nullptr || is_interrupted()) {
                throw Interrupted();
            }
            throw std::runtime_error(engine.name + ", " + group.title + ": " + error.what());
        }
    }
}

void finish(const Group& group, Steps& steps, const std::function<void()>& print) {
    if (group.finish) {
        group.finish();
    }
    steps.clear();
    print();
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

void Steps::next(std::string_view what) {
    wait_seconds(0);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    ++begun_;
    clear();
    out_ << "step " << begun_ << " of " << expected_ << ": " << what;
    if (begun_ > 1 && expected_ >= begun_) {
        const auto left = static_cast<double>(expected_ - begun_ + 1);
        out_ << ", about " << std::ceil(seconds / static_cast<double>(begun_ - 1) * left) << " s left";
    }
    has_line_ = is_terminal_;
    has_line_ ? out_.flush() : out_ << '\n';
}

void Steps::clear() {
    if (has_line_) {
        out_ << "\r\x1b[K" << std::flush;
        has_line_ = false;
    }
}

std::size_t steps_in(const Plan& plan, std::size_t runs) {
    std::size_t steps = 0;
    for (const Group& group : plan) {
        steps += group.engines.size() * (group.is_run_once ? 1 : runs);
    }
    return steps;
}

void measure(const Plan& plan, std::size_t runs, Steps& steps, const std::function<void()>& print) {
    for (const Group& group : plan) {
        try {
            for (std::size_t run = 0; run < (group.is_run_once ? 1 : runs); ++run) {
                run_once(group, steps);
            }
        } catch (const std::exception&) {
            finish(group, steps, print);
            throw;
        }
        finish(group, steps, print);
    }
}

}  // namespace telegate::perf
