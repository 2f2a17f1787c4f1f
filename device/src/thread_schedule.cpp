#include "device/thread_schedule.hpp"

#include "core/assert.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace telegate {
namespace {

static_assert(ThreadSchedule::processor_max + 1 == CPU_SETSIZE);

std::error_code to_error(int code) noexcept {
    return {code, std::generic_category()};
}

/// Returns the processors that the thread may run on, in order; empty if unknown.
std::vector<unsigned> processors_of(pthread_t thread) {
    cpu_set_t set;
    CPU_ZERO(&set);
    ::pthread_getaffinity_np(thread, sizeof set, &set);
    std::vector<unsigned> processors;
    for (unsigned number = 0; number <= ThreadSchedule::processor_max; ++number) {
        if (CPU_ISSET(number, &set)) {
            processors.push_back(number);
        }
    }
    return processors;
}

std::error_code set_processors(pthread_t thread, const std::vector<unsigned>& processors) noexcept {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const unsigned number : processors) {
        TELEGATE_ASSERT(number <= ThreadSchedule::processor_max);
        CPU_SET(number, &set);
    }
    return to_error(::pthread_setaffinity_np(thread, sizeof set, &set));
}

std::error_code set_priority(pthread_t thread, int priority) noexcept {
    TELEGATE_ASSERT(priority <= ThreadSchedule::realtime_priority_max);
    sched_param parameters{};
    parameters.sched_priority = priority;
    return to_error(::pthread_setschedparam(thread, SCHED_FIFO, &parameters));
}

}  // namespace

ScheduleGrant schedule_thread(pthread_t thread, const ThreadSchedule& wanted) {
    ScheduleGrant grant{wanted, {}, {}, {}};
    if (!wanted.processors.empty()) {
        grant.processors_refused = set_processors(thread, wanted.processors);
        if (!grant.processors_refused) {
            grant.in_force.processors = processors_of(thread);
        }
    }
    if (wanted.realtime_priority > 0) {
        grant.priority_refused = set_priority(thread, wanted.realtime_priority);
        if (!grant.priority_refused) {
            grant.in_force.realtime_priority = wanted.realtime_priority;
        }
    }
    return grant;
}

unsigned processor_count() noexcept {
    return static_cast<unsigned>(std::clamp(::sysconf(_SC_NPROCESSORS_CONF), 1L, long{CPU_SETSIZE}));
}

}  // namespace telegate
