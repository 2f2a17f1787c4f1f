#pragma once

#include "load.hpp"

#include "core/clock.hpp"
#include "core/endian.hpp"
#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/subscriber.hpp"

#include <pthread.h>

#include <charconv>
#include <exception>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace telegate::perf {

/// The sequence numbers in a message, which is not read further, so that the checks of subscribers do not limit a run:
/// `count` ascending numbers from `first` to `last`, with gaps where the queue dropped samples.
struct PayloadNumbers {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t count = 0;

    [[nodiscard]] static PayloadNumbers one(std::uint64_t number) noexcept { return {number, number, 1}; }
};

/// The order of the keys is fixed (docs/wire.md), and all channel names have the same length.
[[nodiscard]] inline std::optional<PayloadNumbers> json_numbers(std::string_view payload) {
    constexpr std::string_view before_seq = R"({"device":"load","channel":"c0000","epoch":1795217494123)";
    constexpr std::string_view seq_key = R"(,"seq":)";
    if (payload.size() <= before_seq.size() || !payload.substr(before_seq.size()).starts_with(seq_key)) {
        return std::nullopt;
    }
    const char* const end = payload.data() + payload.size();
    std::uint64_t number = 0;
    const auto [stopped, fault] = std::from_chars(payload.data() + before_seq.size() + seq_key.size(), end, number);
    const bool whole = fault == std::errc() && stopped != end && *stopped == ',';
    return whole ? std::optional(PayloadNumbers::one(number)) : std::nullopt;
}

[[nodiscard]] inline std::optional<PayloadNumbers> record_numbers(std::string_view payload) {
    constexpr std::size_t record_bytes = 64;
    constexpr std::size_t seq_offset = 16;
    if (payload.empty() || payload.size() % record_bytes != 0) {
        return std::nullopt;
    }
    PayloadNumbers numbers = PayloadNumbers::one(load_little_endian<std::uint64_t>(payload.data() + seq_offset));
    for (std::size_t at = record_bytes; at < payload.size(); at += record_bytes) {
        const std::uint64_t next = load_little_endian<std::uint64_t>(payload.data() + at + seq_offset);
        if (next <= numbers.last) {
            return std::nullopt;
        }
        numbers.last = next;
        ++numbers.count;
    }
    return numbers;
}

/// Returns the number of the channel in a topic such as "load/c0042".
[[nodiscard]] inline std::optional<std::size_t> channel_in(std::string_view topic) {
    constexpr std::string_view prefix = "load/c";
    constexpr std::size_t digits = 4;
    std::size_t channel = 0;
    const char* const end = topic.data() + topic.size();
    if (topic.size() != prefix.size() + digits || !topic.starts_with(prefix) ||
        std::from_chars(end - digits, end, channel).ptr != end) {
        return std::nullopt;
    }
    return channel;
}

inline constexpr const char* receiver_thread = "perf-sub";

/// A subscriber of all topics with its own thread, which checks every message: the numbers of a channel must
/// ascend. The delay of a sample ends when the application has received its batch.
///
/// Threads: constructor, stop() the owner's; samples(), messages() any.
/// Limits: one number per channel, and the histogram. Failure: an unexpected or duplicate message is a fault.
class Receiver {
  public:
    Receiver(const Endpoint& endpoint, const LineWork& work, const CaptureTimes& times)
        : read_(work.format == "json" ? json_numbers : record_numbers),
          times_(times),
          next_(work.channels, 1),
          subscriber_(reactor_, {}) {
        subscriber_.subscribe("");
        subscriber_.connect(endpoint);
        subscriber_.set_on_readable([this] {
            while (subscriber_.receive(batch_)) {
                came_mono_ns_ = to_ns(std::chrono::steady_clock::now());
                receive_batch();
            }
        });
        thread_ = std::thread([this] {
            ::pthread_setname_np(::pthread_self(), receiver_thread);
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
    void receive_batch() {
        for (const Message message : batch_) {
            if (const char* const what = fault_.empty() ? check_message(message) : nullptr) {
                fault_ = what;
            }
        }
        end_delay();
        samples_.store(samples_taken_, std::memory_order_relaxed);
        messages_.store(messages() + batch_.size(), std::memory_order_relaxed);
    }

    /// Returns the fault of a message, or nullptr.
    [[nodiscard]] const char* check_message(const Message& message) {
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
            record_delay((numbers->first + index - 1) * next_.size() + *channel);
        }
        samples_taken_ += numbers->count;
        return nullptr;
    }

    /// Samples of one tick in the same batch have the same delay.
    void record_delay(std::uint64_t sample) {
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

    std::optional<PayloadNumbers> (*const read_)(std::string_view payload);  // nullopt for a different format
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
