#pragma once

#include <pthread.h>

#include <system_error>
#include <vector>

namespace telegate {

/// The scheduling parameters of a thread.
struct ThreadSchedule {
    static constexpr int realtime_priority_max = 99;
    static constexpr unsigned processor_max = 1'023;  // the highest number in a cpu_set_t

    int realtime_priority = 0;           // 1 to 99: SCHED_FIFO, before every ordinary thread; 0: ordinary thread
    std::vector<unsigned> processors{};  // that the thread may run on; empty: any
};

/// The result of applying a ThreadSchedule.
struct ScheduleGrant {
    ThreadSchedule wanted;
    ThreadSchedule in_force;             // processors: empty unless some were requested and granted
    std::error_code priority_refused;    // why the priority was refused; no error if it was granted
    std::error_code processors_refused;  // why all processors were refused
};

/// Requests a schedule for `thread`. The system may grant only part of it: some of the processors, or only the
/// priority or the processors.
///
/// Threads: any, while `thread` has not been joined.
/// Failure: a refused request is reported in the result and changes nothing.
[[nodiscard]] ScheduleGrant schedule_thread(pthread_t thread, const ThreadSchedule& wanted);

/// Returns the number of configured processors, including offline ones. Processor numbers start at 0.
[[nodiscard]] unsigned processor_count() noexcept;

}  // namespace telegate
