#include "tick_engines.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

namespace telegate::perf {

namespace {

constexpr unsigned long slack_least_ns = 1;
constexpr unsigned long slack_default_ns = 50'000;

[[nodiscard]] timespec to_timespec(MonoTime time) noexcept {
    constexpr std::int64_t second_ns = 1'000'000'000;
    return {static_cast<time_t>(to_ns(time) / second_ns), static_cast<long>(to_ns(time) % second_ns)};
}

void serve_all(TickRecord& record) {
    record.begin(std::chrono::steady_clock::now());
    for (;;) {
        record.serve(std::chrono::steady_clock::now());
        if (record.is_complete()) {
            return;
        }
        const timespec due = to_timespec(record.due());
        ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr);
    }
}

[[nodiscard]] TickRecord run_in_thread(const TickWork& work, unsigned long slack_ns) {
    TickRecord record(work.interval, work.ticks);
    std::exception_ptr fault;
    std::thread thread([&] {
        try {
            require_granted(schedule_thread(::pthread_self(), work.schedule));
            ::prctl(PR_SET_TIMERSLACK, slack_ns);
            serve_all(record);
        } catch (...) {
            fault = std::current_exception();
        }
    });
    thread.join();
    if (fault) {
        std::rethrow_exception(fault);
    }
    return record;
}

}  // namespace

void require_granted(const ScheduleGrant& grant) {
    if (grant.priority_refused || grant.processors_refused) {
        throw std::runtime_error(
            "the system refuses the priority or the processors: " +
            (grant.priority_refused ? grant.priority_refused : grant.processors_refused).message());
    }
}

TickRecord run_bare(const TickWork& work) {
    return run_in_thread(work, slack_least_ns);
}

TickRecord run_bare_with_slack(const TickWork& work) {
    return run_in_thread(work, slack_default_ns);
}

}  // namespace telegate::perf
