#pragma once

#include "core/telemetry_sample.hpp"
#include "device/recording/recording_format.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace telegate {

/// What a recorder takes out of its buffer at a time. What it has lost comes behind everything else.
struct RecorderLoad {
    struct Gap {
        std::size_t before = 0;  // index of the sample that comes behind it
        recording::Gap gap;
    };
    struct Lost {
        std::uint64_t first_seq = 0;  // 0: none
        std::uint64_t last_seq = 0;
    };
    std::vector<TelemetrySample> samples;
    std::vector<Gap> gaps;
    std::vector<Lost> lost;                // by channel
    std::vector<ChannelId> lost_channels;  // those that have an entry there

    [[nodiscard]] bool empty() const noexcept { return samples.empty() && gaps.empty() && lost_channels.empty(); }
    /// Keeps the memory.
    void clear() noexcept;
};

/// Where samples wait for a disk: one half is filled while the other one is written, so that nobody waits for longer
/// than a copy of a few samples takes.
///
/// Threads: put(), put_gap() the io thread; take(), wait() the recorder's; all else any.
/// Limits:  samples_max in each half; what comes when it is full is lost, counted, and told by channel in the load.
///          gaps_max gaps that others told, beyond these they are told as the recorder's own.
/// Failure: the constructor may throw std::bad_alloc. When there is no memory to note which samples are lost, they are
///          counted only: a reader sees the hole in the numbers.
class RecorderBuffer {
  public:
    /// Both halves together are 4 MiB, of which only what is used takes memory. A half lasts for three seconds of a
    /// disk that stands still, at 10,000 samples/s.
    static constexpr std::size_t samples_max = 32'768;
    static constexpr std::size_t gaps_max = 4'096;
    /// The recorder is woken when so many wait, 1 MiB, or when they have waited for so long.
    static constexpr std::size_t samples_untold = 16'384;
    static constexpr std::chrono::milliseconds untold_max{1'000};

    RecorderBuffer();

    void put(std::span<const TelemetrySample> samples) noexcept;
    void put_gap(const recording::Gap& gap) noexcept;

    /// Waits for something to be written and puts it into `load`, which must be clear. False: there is nothing left and
    /// nothing will come.
    [[nodiscard]] bool take(RecorderLoad& load);
    /// Waits for so long, or until close(). Whether it is still open.
    [[nodiscard]] bool wait(std::chrono::milliseconds time);
    /// Nothing more comes. take() does not wait any more.
    void close();

    /// Samples that found no room, ever.
    [[nodiscard]] std::uint64_t lost() const;
    /// Samples that were put, ever, with those that were lost.
    [[nodiscard]] std::uint64_t offered() const;

  private:
    void note_lost(ChannelId channel, std::uint64_t first_seq, std::uint64_t last_seq) noexcept;
    void tell_of(std::size_t samples_before) noexcept;

    mutable std::mutex mutex_;  // guards all that follows; held for a copy of a batch, or for a swap
    std::condition_variable wake_;
    RecorderLoad filling_;
    std::uint64_t lost_ = 0;
    std::uint64_t offered_ = 0;
    bool closed_ = false;
};

}  // namespace telegate
