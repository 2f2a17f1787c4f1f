#pragma once

#include "core/ledger.hpp"
#include "core/telemetry_sample.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

namespace telegate {

/// Samples `first_seq` to `last_seq` of a channel are missing.
struct SampleGap {
    ChannelId channel;
    std::uint64_t first_seq;
    std::uint64_t last_seq;
    DropReason reason;

    [[nodiscard]] std::uint64_t samples() const noexcept { return last_seq - first_seq + 1; }
};

/// Counts of a consumer since its creation.
struct ConsumerLedger {
    std::uint64_t taken = 0;    // samples
    std::uint64_t missing = 0;  // samples in gaps
};

/// Receives everything that the pump publishes. The samples and gaps of a channel together cover every sequence number
/// from 1, once and in order: a gap comes before the sample after it.
///
/// A consumer that is slow or works on another thread copies the data it needs, or reads the history through a
/// SampleCursor.
///
/// Threads: the pump's, unless a function says otherwise.
/// Limits: it must not block, and must not take longer than encoding the samples.
/// Failure: consume() and gap() may throw std::bad_alloc for a channel that is new to the consumer; the samples of that
/// call are then in ledger().taken and are not delivered.
class SampleConsumer {
  public:
    /// Every consumer has a sample within a second, including the time that the pump needs.
    static constexpr std::chrono::milliseconds delay_longest{950};

    SampleConsumer() = default;
    virtual ~SampleConsumer() = default;
    SampleConsumer(const SampleConsumer&) = delete;
    SampleConsumer& operator=(const SampleConsumer&) = delete;

    /// Returns a short name for status and logs.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    /// Consumes 1 to Pump::batch_samples samples.
    virtual void consume(std::span<const TelemetrySample> samples) = 0;
    virtual void gap(const SampleGap& gap) = 0;
    /// Returns how long a captured sample may wait in the queue, up to delay_longest; 0: not at all. The pump wakes up
    /// as often as the most demanding consumer needs. A consumer whose delay becomes shorter wakes the pump.
    [[nodiscard]] virtual std::chrono::milliseconds queue_delay_max() const noexcept { return delay_longest; }
    /// Returns whether samples must stay in the queue for now. A consumer that returned true must wake the pump when it
    /// has capacity again.
    [[nodiscard]] virtual bool must_wait() { return false; }
    /// Ends an iteration of the pump: the consumer passes on the samples it has taken.
    virtual void flush() {}
    /// Writes what is pending and waits for it, after the pump has ended. Threads: any one.
    virtual void close() {}
    [[nodiscard]] virtual ConsumerLedger ledger() const = 0;
};

}  // namespace telegate
