#pragma once

#include "core/assert.hpp"
#include "core/sequence_lock.hpp"
#include "core/telemetry_sample.hpp"

#include <sys/mman.h>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace telegate {

/// Returns the first index in [low, high) for which `holds` is true; `high` if there is none. `holds` must be true for
/// all indexes after that.
template <std::unsigned_integral Index, class Holds>
[[nodiscard]] Index first_where(Index low, Index high, const Holds& holds) {
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (holds(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

inline constexpr std::size_t first_where_checks_max = 1'024;

/// Like first_where(), for a `holds` that may change between true and false: checks up to first_where_checks_max
/// indexes spread over the range, then searches between the first match and the index checked before it.
template <std::unsigned_integral Index, class Holds>
[[nodiscard]] Index first_where_unsorted(Index low, Index high, const Holds& holds) {
    if (low >= high) {
        return high;
    }
    const Index step = (high - low) / first_where_checks_max + 1;
    for (Index check = low; check < high; check += step) {
        if (holds(check)) {
            return first_where(low, check, holds);
        }
        low = check + 1;
    }
    return first_where(low, high, holds);
}

/// An array of zeros. Each page uses memory only after its first write.
///
/// Threads: like an array.
/// Limits: none.
/// Failure: the constructor throws std::bad_alloc if the address space is exhausted.
template <class Item>
class MappedMemory {
  public:
    explicit MappedMemory(std::size_t items)
        : bytes_(items * sizeof(Item)),
          memory_(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        if (memory_ == MAP_FAILED) {
            out_of_memory();
        }
    }
    ~MappedMemory() { ::munmap(memory_, bytes_); }
    MappedMemory(const MappedMemory&) = delete;
    MappedMemory& operator=(const MappedMemory&) = delete;

    [[nodiscard]] Item* data() const noexcept { return static_cast<Item*>(memory_); }
    [[nodiscard]] Item& operator[](std::size_t index) const noexcept { return data()[index]; }

  private:
    const std::size_t bytes_;
    void* const memory_;
};

/// The last samples of rarely published channels, after the history overwrote them. Before the history overwrites
/// samples, it passes them to sweep(), the oldest first; a sample is kept unless `per_channel` newer samples of its
/// channel are still held. Samples keep their order and their positions.
///
/// The held samples of a channel are always its newest ones, without a gap: if a sample is not kept, older ones of its
/// channel are hidden.
///
/// The number of samples is released after the words of a new one, so a reader that acquires it sees them. Only moving
/// samples needs the SequenceLock.
///
/// Threads: counter() and sweep(): one writer; the rest: any. A reader copies again if the writer has compacted in the
/// meantime.
/// Limits: `bytes`, bytes_per_sample per sample, and 20 bytes per channel. If that is too little for all channels,
/// share(), the number of samples that each channel keeps, is halved repeatedly, down to one; then the oldest samples
/// are dropped. share() increases again when memory is free.
/// Failure: the constructor throws std::bad_alloc if the address space is exhausted.
class KeptSamples {
  public:
    static constexpr std::size_t bytes_per_sample = sizeof(TelemetrySample) + sizeof(std::uint64_t);

    KeptSamples(std::size_t bytes, std::size_t per_channel);

    /// Returns a function to call with the channel of each sample written to the history. It is valid as long as this
    /// object.
    [[nodiscard]] auto counter() const noexcept {
        return [counts = unswept_.data()](ChannelId channel) {
            ++counts[to_index(channel)];
        };
    }
    /// Keeps or drops the next samples that the history overwrites; the first is at `position`. All were passed to
    /// counter().
    void sweep(const std::uint64_t* words, std::size_t samples, std::uint64_t position) noexcept;

    /// Positions from `from` up to but excluding `end`, of samples not older than `since_mono_ns`.
    struct Range {
        std::uint64_t from = 0;
        std::uint64_t end = 0;
        std::int64_t since_mono_ns = std::numeric_limits<std::int64_t>::min();
    };
    /// Samples at consecutive positions.
    struct Run {
        std::uint64_t position = 0;
        std::size_t count = 0;
    };
    /// Copies the first samples of the range: from its first held position to the next position that is not held.
    [[nodiscard]] Run read(const Range& range, std::span<TelemetrySample> out) const noexcept;
    /// Returns the first held position of the range.
    [[nodiscard]] std::optional<std::uint64_t> first(const Range& range) const noexcept;
    /// Like first(), for samples at or after that UTC time, see first_where_unsorted().
    [[nodiscard]] std::optional<std::uint64_t> first_since_utc(const Range& range,
                                                               std::int64_t time_utc_ns) const noexcept;

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    /// Returns the number of held samples.
    [[nodiscard]] std::size_t held() const noexcept { return held_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t per_channel() const noexcept { return per_channel_; }
    [[nodiscard]] std::size_t share() const noexcept { return share_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::size_t words_per_sample = sizeof(TelemetrySample) / sizeof(std::uint64_t);
    struct Channel {
        std::size_t kept;         // samples held here, without those before first_seq
        std::uint64_t first_seq;  // samples with lower numbers are hidden
    };
    /// Flag in unswept_: the channel has samples here. So one comparison detects every case that needs visit().
    static constexpr std::uint32_t has_kept = 0x8000'0000;

    void visit(const std::uint64_t* words, std::uint64_t position) noexcept;
    void keep(const std::uint64_t* words, std::uint64_t position) noexcept;
    void forget(std::size_t channel, std::uint64_t before_seq) noexcept;
    void set_kept(std::size_t channel, std::size_t kept) noexcept;
    [[nodiscard]] std::uint32_t unswept(std::size_t channel) const noexcept { return unswept_[channel] & ~has_kept; }
    void compact() noexcept;
    std::size_t drop_beyond(std::size_t share) noexcept;
    void drop_oldest(std::size_t samples) noexcept;
    void move(std::size_t from, std::size_t to) noexcept;
    void set_count(std::size_t count) noexcept;

    [[nodiscard]] std::uint64_t position_at(std::size_t index) const noexcept;
    [[nodiscard]] std::uint64_t word_at(std::size_t index, std::size_t byte) const noexcept;
    [[nodiscard]] std::size_t channel_at(std::size_t index) const noexcept;
    [[nodiscard]] bool is_given_out(std::size_t index) const noexcept;
    [[nodiscard]] std::size_t first_index(const Range& range, std::size_t count) const noexcept;
    [[nodiscard]] std::optional<std::uint64_t> position_from(std::size_t index, std::uint64_t end,
                                                             std::size_t count) const noexcept;

    const std::size_t capacity_;
    const std::size_t per_channel_;
    MappedMemory<std::uint64_t> words_;
    MappedMemory<std::uint64_t> positions_;  // one per sample, ascending
    MappedMemory<Channel> channels_;         // by id
    MappedMemory<std::uint32_t> unswept_;    // by id: samples in the history not yet passed to sweep()
    SequenceLock lock_;                      // held while samples are moved
    std::atomic<std::size_t> count_{0};
    std::atomic<std::size_t> held_{0};
    std::atomic<std::size_t> share_;
};

}  // namespace telegate
