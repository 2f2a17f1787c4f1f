#pragma once

#include "core/telemetry_sample.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace telegate {

/// The last samples, in the order in which they were published: each has a position, counted from 0 at the start. What
/// is full is written over from its oldest end; nobody is waited for.
///
/// Threads: write() one; read() and the rest any. A reader never stops the writer: it copies, then looks whether it has
///          been overtaken meanwhile, and leaves out what may have been written over.
/// Limits:  `bytes` at most, 64 per sample, at least one sample; a page takes memory when it is first written.
/// Failure: the constructor throws std::bad_alloc when there is no address space for it.
class History {
  public:
    struct Read {
        std::size_t count = 0;     // samples that were copied; their positions end at `next`
        std::uint64_t next = 0;    // where to go on
        std::uint64_t missed = 0;  // positions from the one asked for that are no longer held
    };

    explicit History(std::size_t bytes);
    ~History();
    History(const History&) = delete;
    History& operator=(const History&) = delete;

    void write(std::span<const TelemetrySample> samples) noexcept;

    /// The one that the next sample will have: as many as have been written.
    [[nodiscard]] std::uint64_t position() const noexcept { return written_.load(std::memory_order_acquire); }
    /// The oldest that is held; by the time of a read() it may be gone.
    [[nodiscard]] std::uint64_t oldest() const noexcept;
    /// Samples that it holds at most.
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    /// Copies samples from a position on, oldest first. `position + missed + count == next`; count is 0 only when there
    /// is nothing at or behind `next`, or the writer has overtaken this read as a whole.
    [[nodiscard]] Read read(std::uint64_t position, std::span<TelemetrySample> out) const noexcept;

  private:
    static constexpr std::size_t words_per_sample = sizeof(TelemetrySample) / sizeof(std::uint64_t);

    const std::size_t capacity_;
    std::uint64_t* const words_;  // mapped; a page takes memory when it is first written
    std::size_t slot_ = 0;        // of the next sample; the writer's
    // On a cache line of their own: readers look at them again and again.
    alignas(64) std::atomic<std::uint64_t> claimed_{0};  // below it, less the capacity, words may be changing
    std::atomic<std::uint64_t> written_{0};
};

}  // namespace telegate
