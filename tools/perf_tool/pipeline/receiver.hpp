#pragma once

#include "capture_times.hpp"
#include "delay_counts.hpp"
#include "payload_numbers.hpp"

#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/subscriber.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace telegate::perf {

/// One subscriber of everything, on a reactor and a thread of its own, that checks every message: per channel the
/// numbers go up, each at most once; what is missing is counted. The delay of a sample ends when the batch that it came
/// with is in the hands of the application.
///
/// Threads: constructor, stop() the owner's; samples(), messages() any.
/// Limits:  one number per channel, and the counts.
/// Failure: a message that is not as expected, or comes twice, is a fault that stop() tells.
class Receiver {
  public:
    struct Setup {
        Endpoint endpoint;
        ReadPayloadNumbers read = nullptr;
        std::size_t channels = 1;
        std::string thread_name;
    };

    Receiver(const Setup& setup, const CaptureTimes& times);
    ~Receiver();
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;

    [[nodiscard]] std::uint64_t samples() const noexcept { return samples_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_.load(std::memory_order_relaxed); }

    /// Ends the thread. What follows is for afterwards. Idempotent.
    void stop();
    /// Empty when there was none.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
    [[nodiscard]] const DelayCounts& delays() const noexcept { return delays_; }
    [[nodiscard]] std::int64_t last_mono_ns() const noexcept { return came_mono_ns_; }

  private:
    void receive();
    void take(const MessageBatch& batch);
    /// nullptr, or what is wrong.
    [[nodiscard]] const char* take(const Message& message);
    void note(std::uint64_t sample);
    void end_delay();

    const ReadPayloadNumbers read_;
    CaptureTimes::Reader times_;
    std::vector<std::uint64_t> next_;  // the number due, per channel
    Reactor reactor_;
    Subscriber subscriber_;
    MessageBatch batch_;
    std::uint64_t samples_taken_ = 0;
    std::int64_t came_mono_ns_ = 0;    // the batch in hand
    std::size_t delay_tick_ = 0;       // of the samples below
    std::uint64_t delay_samples_ = 0;  // of one tick, in the batch in hand
    DelayCounts delays_;
    std::string fault_;
    std::atomic<std::uint64_t> samples_{0};
    std::atomic<std::uint64_t> messages_{0};
    std::thread thread_;
};

}  // namespace telegate::perf
