#pragma once

#include "core/endpoint.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate::perf {

enum class Pattern : std::uint8_t { pubsub, router };

/// One run of an engine: one sender and one or more receivers, each in a thread of its own.
///
/// The sender makes one call per message, which copies the payload from a buffer of the caller. The first eight bytes
/// are the number of the message, the last byte is the low byte of the number. Receivers check the size, the number
/// and the last byte. The run fails unless every message arrives in order.
struct Workload {
    Pattern pattern = Pattern::pubsub;
    Transport transport = Transport::tcp;
    std::size_t size = 64;  // of the payload in bytes, at least 16
    std::uint64_t messages = 100'000;
    std::size_t receivers = 1;  // fan-out, only for pubsub: each has a connection of its own
    /// Messages are published to the topics in turn. With one topic, all receivers subscribe to it; otherwise each
    /// subscribes to another one.
    std::size_t topics = 1;
    bool two_processes = false;  // whether receivers are processes; not over inproc
    bool curve = false;          // the sender is the CURVE server; not over inproc
};

/// Returns whether the workload can exist.
[[nodiscard]] inline bool is_possible(const Workload& work) noexcept {
    return (work.pattern == Pattern::pubsub || (work.receivers == 1 && work.topics == 1)) &&
           !(stays_in_process(work.transport) && (work.two_processes || work.curve)) && work.receivers > 0 &&
           (work.topics == 1 || work.topics >= work.receivers);
}

/// Returns the topic of a receiver. Message n is published to topic n % topics.
[[nodiscard]] constexpr std::size_t topic_of(const Workload& work, std::size_t receiver) noexcept {
    return receiver * work.topics / work.receivers;
}
/// Returns the name of a topic, which is not a prefix of another one. A single topic is empty, which costs least.
[[nodiscard]] inline std::string topic_name(const Workload& work, std::size_t topic) {
    return work.topics == 1 ? std::string() : std::string("topic/").append(std::to_string(10'000'000 + topic), 1);
}

/// The messages for a receiver: `first`, and every `stride`th after it, below `end`.
struct Share {
    std::uint64_t first = 0;
    std::uint64_t stride = 1;
    std::uint64_t end = 0;
};
[[nodiscard]] constexpr Share share_of(const Workload& work, std::size_t receiver) noexcept {
    return {topic_of(work, receiver), work.topics, work.messages};
}

/// The result of a run, from before the first send() until the last receiver has the last message.
struct Outcome {
    double seconds = 0;
    double cpu_seconds = 0;            // of all threads, including system calls
    double publisher_cpu_seconds = 0;  // of all threads except those that receive
};

/// An implementation of workloads.
struct Engine {
    std::string_view name;  // "telegate", "libzmq", "raw"
    std::string variant;    // its configuration; empty if there is only one
    std::function<bool(const Workload& work)> can;
    /// Throws std::runtime_error if a message is lost, changed or out of order, or nothing happens for ten seconds.
    std::function<Outcome(const Workload& work)> run;
};

/// Returns an engine for each number of I/O threads of the publisher, or one with a single thread.
[[nodiscard]] std::vector<Engine> telegate_engines(std::span<const std::size_t> io_threads);
/// The first is configured as in ServerLink's reports, see README.md. More than one I/O thread is a variant.
[[nodiscard]] std::vector<Engine> libzmq_engines(std::size_t io_threads = 1);
/// Returns the version of the linked library; empty if there is none. Then, there are no libzmq engines.
[[nodiscard]] std::string libzmq_version();

/// Returns a variant for each size of chunks or rings and each size of the sockets' buffers.
[[nodiscard]] std::vector<Engine> raw_engines();
/// Returns whether a variant of raw is one of two that together run all workloads, and are good for most.
[[nodiscard]] bool is_usual(const Engine& raw);

/// Returns "64 B", "8 KiB" or "1 MiB".
[[nodiscard]] inline std::string size_name(std::size_t bytes) {
    constexpr std::size_t kib = 1024;
    if (bytes < kib || bytes % kib != 0) {
        return std::to_string(bytes) + " B";
    }
    return bytes % (kib * kib) == 0 ? std::to_string(bytes / kib / kib) + " MiB" : std::to_string(bytes / kib) + " KiB";
}

/// The endpoints that engines bind, in the order of Transport.
inline constexpr std::array<const char*, 3> endpoint_texts{"tcp://127.0.0.1:*", "ipc://*", "inproc://perf_tool"};
[[nodiscard]] inline const char* endpoint_text(Transport transport) noexcept {
    return endpoint_texts[static_cast<std::size_t>(transport)];
}
[[nodiscard]] inline Transport transport_of(std::string_view name) {
    const auto text =
        std::ranges::find_if(endpoint_texts, [&](std::string_view each) { return each.starts_with(name); });
    return static_cast<Transport>(text - endpoint_texts.begin());
}
[[nodiscard]] inline Endpoint endpoint_over(Transport transport) {
    return std::get<Endpoint>(parse_endpoint(endpoint_text(transport)));
}

[[nodiscard]] inline bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

}  // namespace telegate::perf
