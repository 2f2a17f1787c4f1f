#pragma once

#include "base/mapped_memory.hpp"
#include "core/clock.hpp"
#include "core/telemetry_sample.hpp"
#include "line/kept_samples.hpp"
#include "line/sample_consumer.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace telegate {

/// The last samples, in the order in which they were published: each has a position, counted from 0 at the start. What
/// is full is written over from its oldest end; nobody is waited for. What is older than its limit in age is given out
/// no more, as if it had been written over.
///
/// With `per_channel`, a quarter of the memory is for channels that are published rarely: their last samples are kept
/// there when others write over them (KeptSamples), at their positions. So from oldest() on every position is held, and
/// between first() and oldest() some are.
///
/// Threads: take() and gap() one; read() and the rest any. A reader never stops the writer: it copies, then looks
/// whether it has
///          been overtaken meanwhile, and leaves out what may have been written over.
/// Limits:  `bytes` at most, 64 per sample, at least one sample, and with `per_channel` 20 bytes per channel; a page
///          takes memory when it is first written. Ages are by the monotonic clock, so that a step of the other one
///          neither hides nor shows anything.
/// Failure: the constructor throws std::bad_alloc when there is no address space for it.
class History final : public SampleConsumer {
  public:
    struct Read {
        std::size_t count = 0;     // samples that were copied; their positions end at `next`
        std::uint64_t next = 0;    // where to go on
        std::uint64_t missed = 0;  // positions from the one asked for that are no longer held
    };

    /// `age_max` 0: no limit. `clock` outlives it; null is the system's. `per_channel`: how many samples each channel
    /// has at least; 0: none.
    explicit History(std::size_t bytes, Duration age_max = Duration(0), const Clock* clock = nullptr,
                     std::size_t per_channel = 0);

    [[nodiscard]] std::string_view name() const noexcept override { return "history"; }
    void take(std::span<const TelemetrySample> samples) noexcept override;
    void gap(const SampleGap& gap) noexcept override { missing_ += gap.samples(); }
    [[nodiscard]] ConsumerLedger ledger() const noexcept override { return {position(), missing_}; }

    /// The one that the next sample will have: as many as have been written.
    [[nodiscard]] std::uint64_t position() const noexcept { return written_.load(std::memory_order_acquire); }
    /// The oldest from which on all are held and not too old; by the time of a read() it may be gone.
    [[nodiscard]] std::uint64_t oldest() const noexcept;
    /// The oldest that is held and not too old at all.
    [[nodiscard]] std::uint64_t first() const noexcept;
    /// Where the samples begin that were captured at this time or later; position() when there are none. Samples are
    /// captured in the order of their monotonic times.
    [[nodiscard]] std::uint64_t first_since(MonoTime time) const noexcept;
    /// The same by UTC, where the clock may have been set in between: the first of up to first_where_checks_max places,
    /// spread over all that is held, that is not before `time`, then the exact position between that place and the one
    /// before. So a clock that was set back hides nothing behind it, but for what lies between two of the places.
    [[nodiscard]] std::uint64_t first_since_utc(std::int64_t time_utc_ns) const noexcept;
    /// Samples that it holds at most, without those of kept().
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    /// Null without `per_channel`.
    [[nodiscard]] const KeptSamples* kept() const noexcept { return kept_ ? &*kept_ : nullptr; }

    /// Copies samples from a position on, oldest first. `position + missed + count == next`; count is 0 only when there
    /// is nothing at or behind `next`, or the writer has overtaken this read as a whole. Where positions in between are
    /// not held, it ends before them.
    [[nodiscard]] Read read(std::uint64_t position, std::span<TelemetrySample> out) const noexcept;

  private:
    static constexpr std::size_t words_per_sample = sizeof(TelemetrySample) / sizeof(std::uint64_t);

    void write_run(std::span<const TelemetrySample> samples) noexcept;
    void sweep(std::uint64_t end) noexcept;
    [[nodiscard]] std::int64_t word_at(std::uint64_t position, std::size_t byte) const noexcept;
    [[nodiscard]] std::uint64_t first_young(std::uint64_t held) const noexcept;
    [[nodiscard]] std::int64_t oldest_mono_ns() const noexcept;
    [[nodiscard]] std::uint64_t first_held(std::uint64_t claimed) const noexcept;
    [[nodiscard]] KeptSamples::Run read_kept(std::uint64_t position, std::uint64_t end,
                                             std::span<TelemetrySample> out) const noexcept;

    const std::size_t capacity_;
    const std::int64_t age_max_ns_;  // 0: none
    const Clock& clock_;
    MappedMemory<std::uint64_t> words_;
    std::optional<KeptSamples> kept_;
    std::uint64_t missing_ = 0;  // the writer's
    std::size_t slot_ = 0;       // of the next sample; the writer's
    std::uint64_t swept_ = 0;    // all before it were passed to kept_; the writer's
    // On a cache line of their own: readers look at them again and again.
    alignas(64) std::atomic<std::uint64_t> claimed_{0};  // below it, less the capacity, words may be changing
    std::atomic<std::uint64_t> written_{0};
    mutable std::atomic<std::uint64_t> young_{0};  // all before it is too old, as far as anybody has looked
};

}  // namespace telegate
