#pragma once

#include <pthread.h>

#include <system_error>
#include <vector>

namespace telegate {

/// How a thread is to be run.
struct ThreadSchedule {
    static constexpr int realtime_priority_max = 99;
    static constexpr unsigned processor_max = 1'023;  // the highest number in the system's fixed set

    int realtime_priority = 0;           // 1 to 99: before every ordinary thread (SCHED_FIFO); 0: an ordinary thread
    std::vector<unsigned> processors{};  // that it may run on; empty: any
};

/// What became of a ThreadSchedule.
struct ScheduleGrant {
    ThreadSchedule wanted;
    ThreadSchedule in_force;             // processors: empty unless some were wanted and granted
    std::error_code priority_refused;    // why the priority is not in force; none when it is
    std::error_code processors_refused;  // why none of the processors is
};

/// Asks the system to run `thread` like that. It may grant a part: some of the processors, or one of the two wishes.
///
/// Threads: any, while `thread` has not been joined.
/// Failure: what is refused is told in the result, and stays as it was.
[[nodiscard]] ScheduleGrant schedule_thread(pthread_t thread, const ThreadSchedule& wanted);

/// How many processors the machine has, whether or not they are in use; their numbers begin with 0.
[[nodiscard]] unsigned processor_count() noexcept;

}  // namespace telegate
