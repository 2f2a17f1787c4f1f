#pragma once

#include "core/single_producer_queue.hpp"
#include "core/telemetry_sample.hpp"
#include "core/waker.hpp"
#include "store/block.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace telegate {

/// The samples and gaps that a LogBuffer had no capacity for: one range of sequence numbers for each channel.
///
/// Threads: one at a time. Limits: one range per channel. Failure: none.
class LostRanges {
  public:
    /// Extends the range of a channel.
    void add(const store::LogGap& gap) noexcept;
    void count_samples(std::uint64_t count) noexcept { samples_ += count; }
    void skip(std::uint64_t samples) noexcept { skipped_ += samples; }
    void clear() noexcept;

    [[nodiscard]] const std::vector<store::LogGap>& gaps() const noexcept { return gaps_; }
    /// Returns how many samples are in the ranges, without those that were in a gap before.
    [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }
    /// Returns how many samples between them are not wanted.
    [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }

  private:
    std::vector<store::LogGap> gaps_;
    std::vector<std::uint32_t> index_;  // by channel: 1 + index in gaps_; 0: none
    std::uint64_t samples_ = 0;
    std::uint64_t skipped_ = 0;
};

/// Carries samples and gaps from the I/O thread to the thread of a log, in one sequence. When the buffer is full, the
/// I/O thread collects what is lost, and adds it to the same sequence before anything newer. The thread of the log
/// therefore receives every sequence number of a channel in order, whatever is lost.
///
/// The I/O thread takes no lock and never waits: the thread of the log has a lower priority, so it can lose its
/// processor at any instruction.
///
/// A side stores what the other one waits for, issues a fence and checks whether the other one waits; a waiter does the
/// reverse. So the I/O thread sees wake_at_ or the thread of the log sees the entry, and the thread of the log sees
/// is_losing_ or flush() sees the capacity. The entry publishes the losses in reported_, and is_reported_ returns them.
///
/// Threads: put(), put_gap(), skip(), flush(), request_call() the I/O thread, never after close(); wait_for_load(),
/// drain(), wait() the thread of the log; all else any. Limits: `capacity` samples and gaps. Samples that arrive when
/// they are pending, and until half of them are gone, are lost, counted, and reported per channel. Failure: the
/// constructor may throw std::bad_alloc, and std::system_error if the process has no free descriptor.
class LogBuffer {
  public:
    /// They take 4 MiB, as far as the buffer has been used. They are five seconds of samples at 10,000 samples/s if the
    /// disk stalls.
    static constexpr std::size_t entries_max = 57'344;
    /// The thread of the log is woken when this many entries are pending, or after they have been pending for this
    /// long. They fit into one block, with those that arrive until the thread runs; otherwise a small block would
    /// follow each full one. With the time in the queue, samples are written within a second of their reading.
    static constexpr std::size_t entries_pending_max = store::BlockEncoder::samples_max - 2'048;
    static constexpr std::chrono::milliseconds write_delay_max{900};
    /// While entries are pending, wait_for_load() calls `on_pending` at most once per interval.
    static constexpr std::chrono::milliseconds call_interval{100};

    /// `wake_producer` is called on the thread of the log when flush() has something to do.
    explicit LogBuffer(std::function<void()> wake_producer = {}, std::size_t capacity = entries_max);

    void put(std::span<const TelemetrySample> samples) noexcept;
    void put_gap(const store::LogGap& gap) noexcept;
    /// Carries the number of samples that are not wanted: the log counts their positions.
    void skip(std::uint64_t samples) noexcept;
    /// Reports what was lost, if there is capacity again. Otherwise the next put() does.
    void flush() noexcept;
    /// Makes wait_for_load() call `on_pending` soon, although nothing is pending here.
    void request_call() noexcept;

    /// Waits for entries. Returns false if the buffer is closed and empty. If there are none within `idle_max`, returns
    /// true. It waits up to `delay_max` for more of them and meanwhile calls `on_pending` for the first pending entries
    /// and for further ones, and after request_call().
    [[nodiscard]] bool wait_for_load(std::optional<std::chrono::milliseconds> idle_max = std::nullopt,
                                     const std::function<void()>& on_pending = {},
                                     std::chrono::milliseconds delay_max = write_delay_max);
    /// Removes the entries that are pending now and passes them on in order: append() of `log` takes samples and gaps,
    /// record_published() the number of the lost samples after their gaps, and skip() the numbers of unwanted ones.
    template <class Log>
    void drain(Log& log);
    /// Makes wait_for_load() return as soon as there are any entries.
    void hurry() noexcept;
    /// Waits for `time`, or until close(). Returns whether the buffer is still open.
    [[nodiscard]] bool wait(std::chrono::milliseconds time);
    /// Closes the buffer: no more samples are accepted, and wait_for_load() no longer waits.
    void close() noexcept;

    /// Returns the total number of samples that were lost because the buffer was full.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
    /// Returns the total number of samples passed to put(), including lost ones.
    [[nodiscard]] std::uint64_t offered() const noexcept { return offered_.load(std::memory_order_relaxed); }

  private:
    /// Its place in the sequence is that of the losses in reported_.
    struct Losses {};
    struct Skip {
        std::uint64_t samples;
    };
    using Entry = std::variant<TelemetrySample, store::LogGap, Losses, Skip>;
    using Deadline = std::optional<std::chrono::steady_clock::time_point>;
    static constexpr std::size_t entries_chunk = 256;  // copied at a time
    static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

    [[nodiscard]] std::size_t put_entries(std::span<const Entry> entries) noexcept;
    void lose(const store::LogGap& gap) noexcept;
    void lose(std::span<const TelemetrySample> samples) noexcept;
    void wake_if_due() noexcept;
    [[nodiscard]] bool is_due() const noexcept;
    void wait_for_more(const std::function<void()>& on_pending, std::chrono::steady_clock::time_point until);
    bool wait_for_entries(std::size_t count, const Deadline& until, bool ends_for_call = false);
    [[nodiscard]] bool wait_for_first(const std::function<void()>& on_pending, const Deadline& until);
    void end_drain(bool is_last) noexcept;
    template <class Log>
    static void pass_on(LostRanges& lost, Log& log);

    const std::function<void()> wake_producer_;
    const std::size_t capacity_;
    Waker waker_;
    SingleProducerQueue<Entry> queue_;
    std::atomic<std::size_t> wake_at_{never};  // how many pending entries wake the thread of the log
    std::atomic<bool> is_losing_{false};       // set and reset by the I/O thread: all that arrives is lost
    std::atomic<bool> is_reported_{false};     // reported_ belongs to the thread of the log, which resets this
    std::atomic<bool> is_urgent_{false};
    std::atomic<bool> is_call_wanted_{false};
    std::atomic<bool> is_closed_{false};
    std::atomic<std::uint64_t> lost_{0};
    std::atomic<std::uint64_t> offered_{0};
    LostRanges losing_;                         // used by the I/O thread, after close() by the thread of the log
    LostRanges reported_;                       // used by the I/O thread while is_reported_ is false
    std::array<Entry, entries_chunk> added_{};  // used by the I/O thread
    std::array<Entry, entries_chunk> taken_{};  // used by the thread of the log, like the next one
    std::vector<TelemetrySample> run_;
};

template <class Log>
void LogBuffer::pass_on(LostRanges& lost, Log& log) {
    for (const store::LogGap& gap : lost.gaps()) {
        log.append(gap);
    }
    log.record_published(lost.samples());
    if (lost.skipped() > 0) {
        log.skip(lost.skipped());
    }
    lost.clear();
}

template <class Log>
void LogBuffer::drain(Log& log) {
    const bool is_last = is_closed_.load(std::memory_order_acquire);  // before the size: nothing is added afterwards
    const auto pass_run = [&] {
        if (!run_.empty()) {
            log.append(std::span<const TelemetrySample>(run_));
            run_.clear();
        }
    };
    for (std::size_t left = queue_.size(); left > 0;) {
        const std::size_t count = queue_.pop(std::span(taken_).first(std::min(left, taken_.size())));
        left -= count;
        for (const Entry& entry : std::span(taken_).first(count)) {
            if (const auto* const sample = std::get_if<TelemetrySample>(&entry)) {
                run_.push_back(*sample);
                continue;
            }
            pass_run();
            if (const auto* const gap = std::get_if<store::LogGap>(&entry)) {
                log.append(*gap);
            } else if (const auto* const skip = std::get_if<Skip>(&entry)) {
                log.skip(skip->samples);
            } else {
                pass_on(reported_, log);
                is_reported_.store(false, std::memory_order_release);
            }
        }
        pass_run();
    }
    if (is_last) {
        pass_on(losing_, log);
    }
    end_drain(is_last);
}

}  // namespace telegate
