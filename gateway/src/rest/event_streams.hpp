#pragma once

#include "line/sample_consumer.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace telegate {

/// The open event streams. While there are any, the pump publishes without delay and wakes them after each iteration.
/// Each stream reads the samples from the history through its own cursor.
///
/// Threads: consume(), gap(), flush() and ledger() the pump's; all else any.
/// Limits: the REST server limits the number of streams.
/// Failure: open() may throw std::bad_alloc.
class EventStreams final : public SampleConsumer {
  public:
    /// `opened` is called for each new stream, on its thread; `wake` after samples were published.
    EventStreams(std::function<void()> opened, std::function<void()> wake)
        : opened_(std::move(opened)), wake_(std::move(wake)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "streams"; }
    void consume(std::span<const TelemetrySample> samples) override { ledger_.taken += samples.size(); }
    void gap(const SampleGap& gap) override { ledger_.missing += gap.samples(); }
    [[nodiscard]] std::chrono::milliseconds queue_delay_max() const noexcept override {
        return count() > 0 ? std::chrono::milliseconds(0) : delay_longest;
    }
    void flush() override {
        if (count() > 0) {
            wake_();
        }
    }
    [[nodiscard]] ConsumerLedger ledger() const override { return ledger_; }

    /// Registers a stream until the returned object is destroyed.
    [[nodiscard]] std::shared_ptr<void> open() {
        count_.fetch_add(1, std::memory_order_relaxed);
        std::shared_ptr<void> place(nullptr, [this](void*) { count_.fetch_sub(1, std::memory_order_relaxed); });
        opened_();
        return place;
    }
    /// Lets the streams continue.
    void wake() { wake_(); }
    [[nodiscard]] std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

    /// Announces that no more samples follow. A stream ends when it has sent all published samples.
    void end() {
        is_ending_ = true;
        wake_();
    }
    /// Returns whether end() was called. A stream checks this before it reads the available samples.
    [[nodiscard]] bool is_ending() const noexcept { return is_ending_; }

  private:
    const std::function<void()> opened_;
    const std::function<void()> wake_;
    ConsumerLedger ledger_;
    std::atomic<std::size_t> count_{0};
    std::atomic<bool> is_ending_{false};
};

}  // namespace telegate
