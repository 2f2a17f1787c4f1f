#pragma once

#include "core/endpoint.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace telegate::perf {

enum class Pattern : std::uint8_t { pubsub, router };

/// What every engine does in one run: one sender, one receiver or several, each in a thread of its own.
///
/// The sender makes one call for each message, which copies the payload from one buffer of the caller's; its first
/// eight bytes are the number of the message, its last byte the low byte of that. A receiver looks at each message's
/// size, first and last byte and number. Every message arrives, in order, or the run fails.
struct Workload {
    Pattern pattern = Pattern::pubsub;
    Transport transport = Transport::tcp;
    std::size_t size = 64;  // bytes of payload, 16 at least
    std::uint64_t messages = 100'000;
    std::size_t receivers = 1;  // fan-out, pubsub only: each has a connection of its own
    /// Fan-out: messages go to as many topics in turn. With more than one, each receiver has asked for one of its own,
    /// spread evenly; with one, all have asked for it.
    std::size_t topics = 1;
    bool two_processes = false;  // the receiver in a process of its own; not over inproc
    bool curve = false;          // the sender is CURVE's server; not over inproc
};

/// Whether there is such a workload: routers are two, and inproc is one process, which seals nothing.
[[nodiscard]] constexpr bool is_possible(const Workload& work) noexcept {
    return (work.pattern == Pattern::pubsub || (work.receivers == 1 && work.topics == 1)) &&
           (work.transport != Transport::inproc || !(work.two_processes || work.curve)) && work.receivers > 0 &&
           (work.topics == 1 || work.topics >= work.receivers);
}

/// The topic that a receiver has asked for. Message number n goes to topic n % topics.
[[nodiscard]] constexpr std::size_t topic_of(const Workload& work, std::size_t receiver) noexcept {
    return receiver * work.topics / work.receivers;
}
/// "64 B", "8 KiB", "1 MiB".
[[nodiscard]] std::string size_name(std::size_t bytes);
/// None is the beginning of another. Empty when there is only one, so that it costs least.
[[nodiscard]] std::string topic_name(const Workload& work, std::size_t topic);

/// Which messages one receiver is to get: `first`, and every `stride`th after it, below `end`.
struct Share {
    std::uint64_t first = 0;
    std::uint64_t stride = 1;
    std::uint64_t end = 0;
};

[[nodiscard]] constexpr Share share_of(const Workload& work, std::size_t receiver) noexcept {
    return {topic_of(work, receiver), work.topics, work.messages};
}

/// What one run took. From before the first send() until the last receiver has the last message.
struct Outcome {
    double seconds = 0;
    double cpu_seconds = 0;            // of all threads, system calls included
    double sender_cpu_seconds = 0;     // of the thread that sends
    double publisher_cpu_seconds = 0;  // of all threads but those that receive
    std::string setup{};               // what the engine chose for itself, in words; empty for nothing
};

}  // namespace telegate::perf
