#pragma once

#include "delay_counts.hpp"
#include "load.hpp"
#include "payload_numbers.hpp"

#include "core/clock.hpp"
#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/subscriber.hpp"

#include <pthread.h>

#include <exception>
#include <thread>

namespace telegate::perf {

/// A subscriber of all topics with its own thread, which checks every message: the numbers of a channel must
/// ascend. The delay of a sample ends when the application has received its batch.
///
/// Threads: constructor, stop() the owner's; samples(), messages() any.
/// Limits: one number per channel, and the histogram. Failure: an unexpected or duplicate message is a fault.
class Receiver {
  public:
    struct Setup {
        Endpoint endpoint;
        ReadPayloadNumbers read = nullptr;
        std::size_t channels = 1;
        std::string thread_name;
    };

    Receiver(const Setup& setup, const CaptureTimes& times)
        : read_(setup.read), times_(times), next_(setup.channels, 1), subscriber_(reactor_, {}) {
        subscriber_.subscribe("");
        subscriber_.connect(setup.endpoint);
        subscriber_.set_on_readable([this] {
            while (subscriber_.receive(batch_)) {
                came_mono_ns_ = to_ns(std::chrono::steady_clock::now());
                take_batch();
            }
        });
        thread_ = std::thread([this, name = setup.thread_name] {
            ::pthread_setname_np(::pthread_self(), name.c_str());
            try {
                reactor_.run();
            } catch (const std::exception& error) {
                fault_ = error.what();
            }
        });
    }
    ~Receiver() { stop(); }
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;

    [[nodiscard]] std::uint64_t samples() const noexcept { return samples_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_.load(std::memory_order_relaxed); }

    /// Ends the thread; the functions below may be called afterwards. Idempotent.
    void stop() {
        if (thread_.joinable()) {
            reactor_.stop();
            thread_.join();
        }
    }
    /// Returns the first fault; empty if there is none.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
    [[nodiscard]] const DelayCounts& delays() const noexcept { return delays_; }
    [[nodiscard]] std::int64_t last_mono_ns() const noexcept { return came_mono_ns_; }

  private:
    void take_batch() {
        for (const Message message : batch_) {
            if (const char* const what = fault_.empty() ? take(message) : nullptr) {
                fault_ = what;
            }
        }
        end_delay();
        samples_.store(samples_taken_, std::memory_order_relaxed);
        messages_.store(messages() + batch_.size(), std::memory_order_relaxed);
    }

    /// Returns the fault of a message, or nullptr.
    [[nodiscard]] const char* take(const Message& message) {
        if (message.text(0).ends_with("$gap")) {
            return nullptr;  // the queue counts the dropped samples
        }
        const auto channel = channel_in(message.text(0));
        if (message.size() != 2 || !channel || *channel >= next_.size()) {
            return "received a message that was not published";
        }
        const auto numbers = read_(message.text(1));
        if (!numbers) {
            return "received a payload in the wrong format";
        }
        std::uint64_t& next = next_[*channel];
        if (numbers->first < next) {
            return "received a sample twice or out of order";
        }
        next = numbers->last + 1;
        // Exact unless the queue dropped samples; then the capture time found may be too early.
        for (std::uint64_t index = 0; index < numbers->count; ++index) {
            note((numbers->first + index - 1) * next_.size() + *channel);
        }
        samples_taken_ += numbers->count;
        return nullptr;
    }

    /// Samples of one tick in the same batch have the same delay.
    void note(std::uint64_t sample) {
        const std::size_t tick = times_.tick_of(sample);
        if (tick != delay_tick_) {
            end_delay();
        }
        delay_tick_ = tick;
        ++delay_samples_;
    }
    void end_delay() {
        if (delay_samples_ > 0) {
            delays_.add(came_mono_ns_ - times_.mono_ns(delay_tick_), delay_samples_);
            delay_samples_ = 0;
        }
    }

    const ReadPayloadNumbers read_;
    CaptureTimes::Reader times_;
    std::vector<std::uint64_t> next_;  // the next number of each channel
    Reactor reactor_;
    Subscriber subscriber_;
    MessageBatch batch_;
    std::uint64_t samples_taken_ = 0;
    std::int64_t came_mono_ns_ = 0;    // of the last batch
    std::size_t delay_tick_ = 0;       // of the samples below
    std::uint64_t delay_samples_ = 0;  // of one tick, in the last batch
    DelayCounts delays_;
    std::string fault_;
    std::atomic<std::uint64_t> samples_{0};
    std::atomic<std::uint64_t> messages_{0};
    std::thread thread_;
};

}  // namespace telegate::perf
