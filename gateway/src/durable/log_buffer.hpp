#pragma once

#include "core/telemetry_sample.hpp"
#include "store/block.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace telegate {

/// The data that a DurableLog takes out of its buffer at a time. Lost ranges come after everything else.
struct LogLoad {
    struct Lost {
        std::uint64_t first_seq = 0;  // 0: none
        std::uint64_t last_seq = 0;
    };
    std::vector<TelemetrySample> samples;
    std::vector<store::BlockGap> gaps;
    std::vector<Lost> lost;                // by channel
    std::vector<ChannelId> lost_channels;  // the channels that have an entry in `lost`
    std::uint64_t lost_samples = 0;        // in `lost`, without gaps

    [[nodiscard]] bool empty() const noexcept { return samples.empty() && gaps.empty() && lost_channels.empty(); }
    /// Removes all content but keeps the memory.
    void clear() noexcept;
};

/// A double buffer of samples that wait for the disk: one half is filled while the other is written, so a writer waits
/// only while a few samples are copied.
///
/// Threads: put(), put_gap() the I/O thread; take(), wait() the thread of the log; all else any.
/// Limits: samples_max in each half. Samples that arrive when it is full are lost, counted, and reported per channel in
/// the load. At most gaps_max gaps are kept; further ones are reported as lost.
/// Failure: the constructor may throw std::bad_alloc. Without memory to note which samples are lost, they are only
/// counted; a reader detects the gap by the sequence numbers.
class LogBuffer {
  public:
    /// Both halves take 4 MiB of address space, and memory only as far as they are used. A half holds three seconds of
    /// samples at 10,000 samples/s if the disk stalls.
    static constexpr std::size_t samples_max = 32'768;
    static constexpr std::size_t gaps_max = 4'096;
    /// The thread of the log is woken when this many samples are pending, or after they have been pending for this
    /// long. They fit into one block, with those that arrive until the thread runs; otherwise a small block would
    /// follow each full one.
    static constexpr std::size_t samples_pending_max = store::BlockEncoder::samples_max - 2'048;
    static constexpr std::chrono::milliseconds write_delay_max{1'000};
    /// While samples are pending, take() calls `on_pending` at most once per interval.
    static constexpr std::chrono::milliseconds call_interval{100};

    LogBuffer();

    void put(std::span<const TelemetrySample> samples) noexcept;
    void put_gap(const store::LogGap& gap) noexcept;

    /// Waits for data and moves it into `load`, which must be empty. Returns false if the buffer is closed and empty.
    /// If there is no data within `idle_max`, returns true with an empty load. It waits up to `delay_max` for more data
    /// and meanwhile calls `on_pending` for the first pending data and for further data.
    [[nodiscard]] bool take(LogLoad& load, std::optional<std::chrono::milliseconds> idle_max = std::nullopt,
                            const std::function<void()>& on_pending = {},
                            std::chrono::milliseconds delay_max = write_delay_max);
    /// Makes take() return as soon as there is any data.
    void hurry();
    /// Waits for `time`, or until close(). Returns whether the buffer is still open.
    [[nodiscard]] bool wait(std::chrono::milliseconds time);
    /// Closes the buffer: no more samples are accepted, and take() no longer waits.
    void close();

    /// Returns the total number of samples that were lost because the buffer was full.
    [[nodiscard]] std::uint64_t lost() const;
    /// Returns the total number of samples passed to put(), including lost ones.
    [[nodiscard]] std::uint64_t offered() const;

  private:
    void note_lost(ChannelId channel, std::uint64_t first_seq, std::uint64_t last_seq) noexcept;
    void tell_of(std::size_t samples_before) noexcept;

    mutable std::mutex mutex_;  // guards all members below; held while a batch is copied or the halves are swapped
    std::condition_variable wake_;
    LogLoad filling_;
    std::uint64_t lost_ = 0;
    std::uint64_t offered_ = 0;
    bool is_urgent_ = false;
    bool waits_for_more_ = false;  // take() waits for any further data
    bool closed_ = false;
};

}  // namespace telegate
