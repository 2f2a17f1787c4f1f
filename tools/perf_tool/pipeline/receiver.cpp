#include "receiver.hpp"

#include "core/clock.hpp"

#include <pthread.h>

#include <chrono>
#include <exception>

namespace telegate::perf {

Receiver::Receiver(const Setup& setup, const CaptureTimes& times)
    : read_(setup.read), times_(times), next_(setup.channels, 1), subscriber_(reactor_, {}) {
    subscriber_.subscribe("");
    subscriber_.connect(setup.endpoint);
    subscriber_.set_on_readable([this] { receive(); });
    thread_ = std::thread([this, name = setup.thread_name] {
        ::pthread_setname_np(::pthread_self(), name.c_str());
        try {
            reactor_.run();
        } catch (const std::exception& error) {
            fault_ = error.what();
        }
    });
}

Receiver::~Receiver() {
    stop();
}

void Receiver::stop() {
    if (thread_.joinable()) {
        reactor_.stop();
        thread_.join();
    }
}

void Receiver::receive() {
    while (subscriber_.receive(batch_)) {
        came_mono_ns_ = to_ns(std::chrono::steady_clock::now());
        take(batch_);
    }
}

void Receiver::take(const MessageBatch& batch) {
    for (const Message message : batch) {
        if (const char* const what = fault_.empty() ? take(message) : nullptr) {
            fault_ = what;
        }
    }
    end_delay();
    samples_.store(samples_taken_, std::memory_order_relaxed);
    messages_.store(messages() + batch.size(), std::memory_order_relaxed);
}

const char* Receiver::take(const Message& message) {
    if (message.text(0).ends_with("$gap")) {
        return nullptr;  // what the queue lost is counted there
    }
    const auto channel = channel_in(message.text(0));
    if (message.size() != 2 || !channel || *channel >= next_.size()) {
        return "a message came that nobody published";
    }
    const auto numbers = read_(message.text(1));
    if (!numbers) {
        return "a payload is not of the format asked for";
    }
    std::uint64_t& next = next_[*channel];
    if (numbers->first < next) {
        return "a sample came twice, or too late";
    }
    next = numbers->last + 1;
    // Exact where there is no hole, and else not later than the sample was captured, by what the queue lost.
    for (std::uint64_t index = 0; index < numbers->count; ++index) {
        note((numbers->first + index - 1) * next_.size() + *channel);
    }
    samples_taken_ += numbers->count;
    return nullptr;
}

void Receiver::note(std::uint64_t sample) {
    const std::size_t tick = times_.tick_of(sample);
    if (tick != delay_tick_) {
        end_delay();
    }
    delay_tick_ = tick;
    ++delay_samples_;
}

/// Samples of one tick that came together have one delay.
void Receiver::end_delay() {
    if (delay_samples_ > 0) {
        delays_.add(came_mono_ns_ - times_.mono_ns(delay_tick_), delay_samples_);
        delay_samples_ = 0;
    }
}

}  // namespace telegate::perf
