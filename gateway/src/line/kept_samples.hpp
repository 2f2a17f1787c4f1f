#pragma once

#include "base/mapped_memory.hpp"
#include "core/sequence_lock.hpp"
#include "core/telemetry_sample.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace telegate {

/// The last samples of channels that are published rarely, after the history has overwritten them for others. Before
/// the history overwrites samples it hands them to sweep(), oldest first; a sample is kept unless so many newer ones of
/// its channel are left that `per_channel` are held without it. Samples keep their order and their positions.
///
/// The held samples of a channel are always its newest ones, without a hole: when one is not kept, older ones of its
/// channel are no longer given out.
///
/// Threads: counter(), sweep() one writer; all else any. A reader copies again when the writer has compacted meanwhile.
/// Limits:  `bytes`, bytes_per_sample for each sample, and 20 bytes per channel. When that does not suffice for all
///          channels, each keeps half as many, and half of that, down to one; then the oldest are dropped.
///          share() is what each channel keeps at present; where there is memory again, it rises.
/// Failure: the constructor throws std::bad_alloc when there is no address space for it.
class KeptSamples {
  public:
    static constexpr std::size_t bytes_per_sample = sizeof(TelemetrySample) + sizeof(std::uint64_t);

    KeptSamples(std::size_t bytes, std::size_t per_channel);

    /// To be called with the channel of each sample that is written to the history. Lasts as long as this.
    [[nodiscard]] auto counter() const noexcept {
        return [counts = unswept_.data()](ChannelId channel) {
            ++counts[to_index(channel)];
        };
    }
    /// The next samples that the history will overwrite; the first is at `position`. All were passed to counter().
    void sweep(const std::uint64_t* words, std::size_t samples, std::uint64_t position) noexcept;

    /// Positions from `from` on and before `end`, of samples that are not older than `since`.
    struct Range {
        std::uint64_t from = 0;
        std::uint64_t end = 0;
        std::int64_t since_mono_ns = std::numeric_limits<std::int64_t>::min();
    };
    /// Samples at neighboring positions.
    struct Run {
        std::uint64_t position = 0;
        std::size_t count = 0;
    };
    /// Copies the first samples of the range: those at its first held position and directly after it.
    [[nodiscard]] Run read(const Range& range, std::span<TelemetrySample> out) const noexcept;
    /// The first position of the range that is held.
    [[nodiscard]] std::optional<std::uint64_t> first(const Range& range) const noexcept;
    /// The same among samples of that UTC time or later, see first_where_unsorted().
    [[nodiscard]] std::optional<std::uint64_t> first_since_utc(const Range& range,
                                                               std::int64_t time_utc_ns) const noexcept;

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    /// Samples that are held.
    [[nodiscard]] std::size_t held() const noexcept { return held_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t per_channel() const noexcept { return per_channel_; }
    [[nodiscard]] std::size_t share() const noexcept { return share_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::size_t words_per_sample = sizeof(TelemetrySample) / sizeof(std::uint64_t);
    struct Channel {
        std::uint64_t kept;       // samples here, without those before first_seq
        std::uint64_t first_seq;  // what is here from before this number is not given out
    };
    /// In unswept_: samples of the channel are here. So one comparison finds what needs more than that.
    static constexpr std::uint32_t has_kept = 0x8000'0000;

    void visit(const std::uint64_t* words, std::uint64_t position) noexcept;
    void keep(const std::uint64_t* words, std::uint64_t position) noexcept;
    void forget(std::size_t channel, std::uint64_t before_seq) noexcept;
    void set_kept(std::size_t channel, std::uint64_t kept) noexcept;
    [[nodiscard]] std::uint32_t unswept(std::size_t channel) const noexcept { return unswept_[channel] & ~has_kept; }
    void compact() noexcept;
    std::size_t drop_beyond(std::size_t share) noexcept;
    void drop_oldest(std::size_t samples) noexcept;
    void move(std::size_t from, std::size_t to) noexcept;
    void set_count(std::size_t count) noexcept;

    [[nodiscard]] std::uint64_t position_at(std::uint64_t index) const noexcept;
    [[nodiscard]] std::uint64_t word_at(std::uint64_t index, std::size_t byte) const noexcept;
    [[nodiscard]] std::size_t channel_at(std::uint64_t index) const noexcept;
    [[nodiscard]] bool is_given_out(std::uint64_t index) const noexcept;
    [[nodiscard]] std::uint64_t first_index(const Range& range, std::uint64_t count) const noexcept;
    [[nodiscard]] std::optional<std::uint64_t> position_from(std::uint64_t index, std::uint64_t end,
                                                             std::uint64_t count) const noexcept;

    const std::size_t capacity_;
    const std::size_t per_channel_;
    MappedMemory<std::uint64_t> words_;
    MappedMemory<std::uint64_t> positions_;  // one for each sample, ascending
    MappedMemory<Channel> channels_;         // by id
    MappedMemory<std::uint32_t> unswept_;    // by id: samples in the history that were not passed to sweep() yet
    SequenceLock lock_;                      // taken while samples are moved
    std::atomic<std::size_t> count_{0};
    std::atomic<std::size_t> held_{0};
    std::atomic<std::size_t> share_;
};

}  // namespace telegate
