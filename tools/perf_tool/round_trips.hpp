#pragma once

#include "system.hpp"

#include "core/bytes.hpp"
#include "core/endpoint.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <stdexcept>

namespace telegate::perf {

/// One run of an engine: a DEALER sends a message of one frame, and a ROUTER in another thread sends it back, one
/// message at a time. The size, number and last byte of each reply are checked.
struct LatencyWork {
    Transport transport = Transport::tcp;
    std::size_t size = 64;            // of the payload in bytes, at least 16
    std::uint64_t round_trips = 0;    // at most; the run ends at the first limit
    std::chrono::nanoseconds time{};  // 0: no limit
    std::optional<std::pair<int, int>> processors{};
};

/// The time of each round trip, and the mean CPU time.
struct RoundTrips {
    std::vector<std::uint64_t> ns{};
    double cpu_ns = 0;  // of all threads, including system calls
};

inline constexpr std::chrono::milliseconds reply_time_max{10'000};
/// How often the idle replying side checks whether the run has ended.
inline constexpr std::chrono::milliseconds stop_interval{100};

/// Sends numbered payloads one at a time. `exchange(payload)` sends one and returns the reply, which is valid until the
/// next call and empty after a timeout. Throws std::runtime_error for a wrong reply.
template <class Exchange>
RoundTrips time_round_trips(const LatencyWork& work, Exchange exchange) {
    using Clock = std::chrono::steady_clock;
    constexpr std::uint64_t warm_up_round_trips = 500;
    std::vector<std::byte> payload(work.size, std::byte{'p'});
    std::uint64_t number = 0;
    const auto once = [&] {
        ++number;
        std::memcpy(payload.data(), &number, sizeof number);
        payload.back() = static_cast<std::byte>(number & 0xFF);
        const auto begin = Clock::now();
        const Bytes reply = exchange(Bytes(payload));
        const auto end = Clock::now();
        if (reply.size() != payload.size() || std::memcmp(reply.data(), &number, sizeof number) != 0 ||
            reply.back() != payload.back()) {
            throw std::runtime_error(reply.empty() ? "no reply within ten seconds"
                                                   : "a reply differs from its request");
        }
        return end - begin;
    };
    while (number < std::min(warm_up_round_trips, work.round_trips)) {
        once();
    }
    RoundTrips trips;
    trips.ns.reserve(work.round_trips);
    const double cpu_before = process_cpu_ns();
    const auto start = Clock::now();
    do {
        trips.ns.push_back(static_cast<std::uint64_t>(std::chrono::nanoseconds(once()).count()));
    } while (trips.ns.size() < work.round_trips && (work.time.count() == 0 || Clock::now() - start < work.time));
    trips.cpu_ns = (process_cpu_ns() - cpu_before) / static_cast<double>(trips.ns.size());
    return trips;
}

/// Calls `answer_once()`, which waits for at most stop_interval, repeatedly in a thread until `ping()` has ended in
/// another one. Rethrows the exception of one of the two; if both failed, that of the answering side, which is the
/// cause. Pins the threads only now, so that earlier threads of the engine are not affected.
template <class AnswerOnce, class Ping>
RoundTrips run_both(const std::optional<std::pair<int, int>>& processors, AnswerOnce answer_once, Ping ping) {
    std::atomic<bool> is_over{false};
    auto answering = std::async(std::launch::async, [&] {
        if (processors) {
            pin_thread(processors->second);
        }
        do {
            answer_once();
        } while (!is_over.load(std::memory_order_relaxed));
    });
    auto asking = std::async(std::launch::async, [&] {
        if (processors) {
            pin_thread(processors->first);
        }
        return ping();
    });
    asking.wait();
    is_over.store(true, std::memory_order_relaxed);
    answering.get();
    return asking.get();
}

}  // namespace telegate::perf
