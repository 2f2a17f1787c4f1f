#include "process_memory.hpp"

#include "thread_figures.hpp"

#include "core/bounded_queue.hpp"
#include "core/telemetry_sample.hpp"

#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>

namespace telegate::perf {

ProcessMemory memory_of(pid_t process) {
    const std::string folder = "/proc/" + (process == 0 ? "self" : std::to_string(process));
    const std::string rollup = text_of(folder + "/smaps_rollup");
    const auto resident = number_after(rollup, "Rss");
    const auto proportional = number_after(rollup, "Pss");
    const auto anonymous = number_after(rollup, "Anonymous");
    std::error_code fault;
    const std::filesystem::directory_iterator descriptors(folder + "/fd", fault);
    if (!resident || !proportional || !anonymous || fault) {
        throw std::runtime_error("the memory of a process cannot be read in " + folder);
    }
    return {*resident, *proportional, *anonymous,
            static_cast<std::size_t>(std::distance(begin(descriptors), end(descriptors)))};
}

QueueMemory measure_queue(std::size_t samples) {
    constexpr double kib = 1'024;
    const auto anonymous_kib = [] {
        return static_cast<double>(memory_of(0).anonymous_kib);
    };
    const double before = anonymous_kib();
    BoundedQueue<TelemetrySample> queue(samples, OverflowPolicy::drop_oldest);
    const double empty = anonymous_kib();
    for (std::size_t sample = 0; sample < samples; ++sample) {
        queue.push(queue.first(), TelemetrySample{}, [](const TelemetrySample&, QueueLoss) {});
    }
    const double full = anonymous_kib();
    return {(empty - before) * kib, (full - before) * kib / static_cast<double>(samples)};
}

}  // namespace telegate::perf
