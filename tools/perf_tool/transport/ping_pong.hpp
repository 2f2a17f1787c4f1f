#pragma once

#include "core/bytes.hpp"
#include "latency.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

namespace telegate::perf {

inline constexpr std::chrono::milliseconds answer_time_max{10'000};
/// How often the side that answers looks whether it is still needed, while nothing comes.
inline constexpr std::chrono::milliseconds stop_interval{100};
inline constexpr std::uint64_t warm_up_round_trips = 500;

/// For an engine that can do all.
[[nodiscard]] inline bool any_transport(Transport /*transport*/) {
    return true;
}

[[nodiscard]] inline double cpu_ns_of(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Sends numbered payloads, one after the other. `exchange(payload)` sends one and returns the answer, which lasts
/// until its next call, or throws.
template <class Exchange>
RoundTrips time_round_trips(const LatencyWork& work, Exchange exchange) {
    using Clock = std::chrono::steady_clock;
    std::vector<std::byte> payload(work.size, std::byte{'p'});
    std::uint64_t number = 0;
    const auto once = [&] {
        ++number;
        std::memcpy(payload.data(), &number, sizeof number);
        payload.back() = static_cast<std::byte>(number & 0xFF);
        const auto begin = Clock::now();
        const Bytes answer = exchange(Bytes(payload));
        const auto end = Clock::now();
        if (answer.size() != payload.size() || std::memcmp(answer.data(), &number, sizeof number) != 0 ||
            answer.back() != payload.back()) {
            throw std::runtime_error("an answer is not what was sent");
        }
        return end - begin;
    };
    while (number < std::min(warm_up_round_trips, work.round_trips)) {
        once();
    }
    RoundTrips trips;
    trips.ns.reserve(work.round_trips);
    const double cpu_before = cpu_ns_of(CLOCK_PROCESS_CPUTIME_ID);
    const double sender_before = cpu_ns_of(CLOCK_THREAD_CPUTIME_ID);
    const auto start = Clock::now();
    do {
        trips.ns.push_back(static_cast<std::uint64_t>(std::chrono::nanoseconds(once()).count()));
    } while (trips.ns.size() < work.round_trips && (work.time.count() == 0 || Clock::now() - start < work.time));
    const double count = static_cast<double>(trips.ns.size());
    trips.cpu_ns = (cpu_ns_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_before) / count;
    trips.sender_cpu_ns = (cpu_ns_of(CLOCK_THREAD_CPUTIME_ID) - sender_before) / count;
    return trips;
}

/// Runs `answer_once()`, which waits for stop_interval at most, in a thread of its own again and again, until `ping()`
/// has ended here. What one of the two throws is thrown; of both, that of the answering side, which is the cause.
/// Both are placed only now, so that threads that an engine has made before are not.
template <class AnswerOnce, class Ping>
RoundTrips run_both(const Placement& placement, AnswerOnce answer_once, Ping ping) {
    std::atomic<bool> is_over{false};
    std::exception_ptr answering_fault;
    std::exception_ptr ping_fault;
    RoundTrips trips;
    std::thread answering([&] {
        try {
            const Pin pin(placement.answering);
            do {
                answer_once();
            } while (!is_over.load(std::memory_order_relaxed));
        } catch (...) {
            answering_fault = std::current_exception();
        }
    });
    try {
        const Pin pin(placement.asking);
        trips = ping();
    } catch (...) {
        ping_fault = std::current_exception();
    }
    is_over.store(true, std::memory_order_relaxed);
    answering.join();
    for (const std::exception_ptr& fault : {answering_fault, ping_fault}) {
        if (fault) {
            std::rethrow_exception(fault);
        }
    }
    return trips;
}

}  // namespace telegate::perf
