#pragma once

#include "core/clock.hpp"
#include "core/telemetry_sample.hpp"
#include "line/kept_samples.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace telegate {

/// The size of a history.
struct HistoryLimits {
    std::size_t bytes = 0;        // 64 per sample, at least one sample
    Duration age_max{0};          // 0: no limit
    std::size_t per_channel = 0;  // minimum number of samples of each channel; 0: none

    [[nodiscard]] bool operator==(const HistoryLimits&) const = default;
};

/// The result of reading samples.
struct HistoryRead {
    std::size_t count = 0;     // samples copied; their positions end at `next`
    std::uint64_t next = 0;    // position for the next read
    std::uint64_t missed = 0;  // positions at or after the requested one that are no longer held
};

/// The memory of a History, of constant size. A full buffer overwrites its oldest samples without waiting for readers.
/// Samples older than the age limit are hidden, as if overwritten.
///
/// With `per_channel`, a quarter of the memory is for rarely published channels: it keeps their last samples at their
/// positions when samples of other channels overwrite them (KeptSamples). So all positions at or after oldest() are
/// held, and some of those between first() and oldest().
///
/// Threads: take_over() and consume(): one; read() and the rest: any. A reader never blocks the writer: it copies, then
/// checks whether the writer has overtaken it, and omits samples that may have been overwritten. The writer releases
/// the claim, the words and the number of written samples, in this order; a reader acquires the number, the words and
/// the claim. So it sees the words of all written samples, and after a newer word it also sees the claim and what was
/// kept. Limits: at most HistoryLimits::bytes; with `per_channel`, 20 more bytes per channel. A page uses memory only
/// after its first write. Ages use the monotonic clock, so that a step of the wall clock neither hides nor reveals
/// samples. Failure: the constructor throws std::bad_alloc if the address space is exhausted.
class HistoryBuffer {
  public:
    /// `clock` must outlive the buffer.
    HistoryBuffer(const HistoryLimits& limits, const Clock& clock);

    /// Copies the samples of another buffer to their positions in this one, which is empty and has no readers yet.
    /// Threads: the writer's of the other buffer.
    void take_over(const HistoryBuffer& other) noexcept;
    void consume(std::span<const TelemetrySample> samples) noexcept;

    /// Returns the position of the next sample, which is the number of samples written.
    [[nodiscard]] std::uint64_t position() const noexcept { return written_.load(std::memory_order_acquire); }
    /// Returns the oldest position from which all samples are held and not too old; it may be overwritten before a
    /// read().
    [[nodiscard]] std::uint64_t oldest() const noexcept;
    /// Returns the oldest position that is held and not too old.
    [[nodiscard]] std::uint64_t first() const noexcept;
    /// Returns the position of the first sample captured at or after this time; position() if there is none. Samples
    /// are captured in the order of their monotonic times.
    [[nodiscard]] std::uint64_t first_since(MonoTime time) const noexcept;
    /// Like first_since(), by UTC, for a clock that may have been set in between: checks up to first_where_checks_max
    /// positions spread over all held ones, takes the first that is not before `time_utc_ns`, then finds the exact
    /// position between it and the previous one. If the clock was set back, only samples between two checked positions
    /// can be missed.
    [[nodiscard]] std::uint64_t first_since_utc(std::int64_t time_utc_ns) const noexcept;
    /// Returns the maximum number of samples, without those in kept().
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    /// Returns null without `per_channel`.
    [[nodiscard]] const KeptSamples* kept() const noexcept { return kept_ ? &*kept_ : nullptr; }

    /// Copies samples starting at `position`, the oldest first, up to the first position that is not held. `position +
    /// missed + count == next`; `count` is 0 only if there is no sample at or after `next`, or if the writer overtook
    /// this read completely.
    [[nodiscard]] HistoryRead read(std::uint64_t position, std::span<TelemetrySample> out) const noexcept;

  private:
    static constexpr std::size_t words_per_sample = sizeof(TelemetrySample) / sizeof(std::uint64_t);

    void keep(std::uint64_t position, std::span<const TelemetrySample> samples) noexcept;
    void write_run(std::span<const TelemetrySample> samples) noexcept;
    void sweep(std::uint64_t end) noexcept;
    [[nodiscard]] std::int64_t word_at(std::uint64_t position, std::size_t byte) const noexcept;
    [[nodiscard]] std::uint64_t first_young(std::uint64_t held) const noexcept;
    [[nodiscard]] TelemetrySample sample_at(std::size_t slot) const noexcept;
    [[nodiscard]] std::int64_t oldest_mono_ns() const noexcept;
    [[nodiscard]] std::uint64_t first_held(std::uint64_t claimed) const noexcept;
    [[nodiscard]] KeptSamples::Run read_kept(std::uint64_t position, std::uint64_t end,
                                             std::span<TelemetrySample> out) const noexcept;

    const std::size_t capacity_;
    const std::int64_t age_max_ns_;  // 0: none
    const Clock& clock_;
    MappedMemory<std::uint64_t> words_;
    std::optional<KeptSamples> kept_;
    std::uint64_t begin_ = 0;  // no earlier position is held, except in kept_; constant once there are readers
    std::size_t slot_ = 0;     // of the next sample; for the writer
    std::uint64_t swept_ = 0;  // all samples before it were passed to kept_; for the writer
    // On a separate cache line, because readers load them repeatedly.
    alignas(64) std::atomic<std::uint64_t> claimed_{0};  // words of samples below claimed_ - capacity_ may be changing
    std::atomic<std::uint64_t> written_{0};
    mutable std::atomic<std::uint64_t> young_{0};  // lower bound of the positions that are not too old
};

}  // namespace telegate
