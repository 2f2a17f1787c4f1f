#pragma once

#include "core/endpoint.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
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

/// The result of a run, from before the first send() until the last receiver has the last message.
struct Outcome {
    double seconds = 0;
    double cpu_seconds = 0;            // of all threads, including system calls
    double publisher_cpu_seconds = 0;  // of all threads except those that receive
};

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

/// The number of greetings, which are sent repeatedly before the clock starts to verify the connection.
inline constexpr std::uint64_t hello_number = UINT64_MAX;

/// Makes `payload` the message with this number.
inline void stamp(std::span<char> payload, std::uint64_t number) noexcept {
    std::memcpy(payload.data(), &number, sizeof number);
    payload.back() = static_cast<char>(static_cast<unsigned char>(number));
}

/// The sender's messages, some of which are created in advance. Otherwise, copies would wait until the processor has
/// completed the recent writes. Threads: one. Limits: 16 KiB, or one message. Failure: the constructor throws
/// std::bad_alloc.
class Payloads {
  public:
    explicit Payloads(std::size_t size)
        : size_(size), count_(std::clamp<std::size_t>(16 * 1024 / size, 1, 32)), bytes_(count_ * size, 'p') {}

    /// Returns the payload of a message. Must be called in order, from 0.
    [[nodiscard]] std::string_view operator[](std::uint64_t number) noexcept {
        const std::size_t place = next_;
        next_ = next_ + 1 == count_ ? 0 : next_ + 1;
        for (std::size_t index = 0; place == 0 && index < count_; ++index) {
            stamp(std::span(bytes_).subspan(index * size_, size_), number + index);
        }
        return {bytes_.data() + place * size_, size_};
    }

  private:
    const std::size_t size_;
    const std::size_t count_;
    std::vector<char> bytes_;
    std::size_t next_ = 0;
};

/// Checks the size, number and last byte of each message of a receiver: those of its topic, in turn.
///
/// Threads: the receiver's. Limits: none. Failure: check() throws std::runtime_error for the first wrong message.
class Checker {
  public:
    Checker(const Workload& work, std::size_t receiver) noexcept
        : bytes_(work.size),
          first_(topic_of(work, receiver)),
          stride_(work.topics),
          end_(work.messages),
          next_(first_) {}

    void check(const void* data, std::size_t bytes) noexcept {
        if (bytes != bytes_) [[unlikely]] {
            return fail("has the wrong size");
        }
        std::uint64_t number = 0;
        std::memcpy(&number, data, sizeof number);
        const auto last = static_cast<const unsigned char*>(data)[bytes - 1];
        if (number != next_ || last != static_cast<unsigned char>(number)) [[unlikely]] {
            return check_unexpected(number, last);
        }
        next_ += stride_;
    }

    [[nodiscard]] bool is_greeted() const noexcept { return is_greeted_; }
    /// Returns whether all messages have arrived or one was wrong.
    [[nodiscard]] bool is_done() const noexcept { return next_ >= end_ || fault_ != nullptr; }
    [[nodiscard]] std::uint64_t received() const noexcept { return (next_ - first_) / stride_; }

    /// Must be called when it is done.
    void check() const {
        if (fault_ != nullptr) {
            throw std::runtime_error("message " + std::to_string(received()) + " of a receiver " + fault_);
        }
        if (next_ >= end_ + stride_ && received() > 0) {
            throw std::runtime_error("a receiver got more messages than were sent");
        }
    }

  private:
    void fail(const char* fault) noexcept { fault_ = fault_ == nullptr ? fault : fault_; }
    void check_unexpected(std::uint64_t number, unsigned char last) noexcept {
        if (last != static_cast<unsigned char>(number)) {
            fail("has the wrong last byte");
        } else if (number == hello_number && next_ == first_) {
            is_greeted_ = true;
        } else {
            fail("is lost, duplicate or out of order");
        }
    }

    const std::size_t bytes_;
    const std::uint64_t first_;
    const std::uint64_t stride_;
    const std::uint64_t end_;
    std::uint64_t next_;
    bool is_greeted_ = false;
    const char* fault_ = nullptr;
};

}  // namespace telegate::perf
