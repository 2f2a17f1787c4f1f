#pragma once

#include "../transport/placement.hpp"
#include "samples.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

namespace telegate::perf {

/// Samples at a steady rate, one by one: how long each takes from one thread to the other.
struct PacingWork {
    std::size_t samples = 20'000;
    std::size_t capacity = 65'536;
    std::chrono::nanoseconds interval{10'000};  // 100,000 a second
    Placement placement;
};

[[nodiscard]] inline std::int64_t now_ns() noexcept {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

/// Looks again and again, and lets others run where there is only one processor.
template <class Condition>
void spin_until(Condition condition) {
    for (unsigned looks = 1; !condition(); ++looks) {
        if (looks % 4'096 == 0) {
            std::this_thread::yield();
        }
    }
}

/// Nanoseconds from before each push until after its pop. Sample k is due at k intervals from the start, so
/// that a slow queue is not given more time.
template <class Engine>
std::vector<std::int64_t> pace(const PacingWork& work) {
    Engine engine(work.capacity);
    std::vector<std::int64_t> latencies;
    latencies.reserve(work.samples);
    std::thread consumer([&] {
        const Pin pin(work.placement.answering);
        TelemetrySample sample{};
        while (latencies.size() < work.samples) {
            spin_until([&] { return engine.pop(std::span(&sample, 1)) == 1; });
            latencies.push_back(now_ns() - sample.time_mono_ns);
        }
    });
    {
        const Pin pin(work.placement.asking);
        typename Engine::Producer producer{engine};
        auto sample = blank_sample<TelemetrySample>();
        std::int64_t due = now_ns();
        for (std::size_t number = 0; number < work.samples; ++number) {
            due += work.interval.count();
            spin_until([due] { return now_ns() >= due; });
            renew(sample, 0, number + 1);
            sample.time_mono_ns = now_ns();
            producer.push(sample);
        }
    }
    consumer.join();
    return latencies;
}

}  // namespace telegate::perf
