#pragma once

#include "core/channel_blocks.hpp"
#include "core/channel_table.hpp"
#include "core/drop_record.hpp"
#include "core/sequence_lock.hpp"
#include "core/telemetry_sample.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace telegate {

/// How far one channel has been published: the sequence number reached, and how many samples up to it were lost.
///
/// Threads: reach(), skip_to(), reached(): one writer. published(): any.
/// Limits: none.
/// Failure: none. published() waits, without a lock, for a skip in progress.
class alignas(32) ChannelProgress {  // a power-of-two size makes indexing cheaper
  public:
    /// Marks all samples after the number reached, up to `seq`, as published. If some of them are missing, call
    /// skip_to() first.
    void reach(std::uint64_t seq) noexcept { reached_.store(seq, std::memory_order_release); }
    /// Marks all samples after the number reached, up to `seq`, as lost.
    void skip_to(std::uint64_t seq) noexcept;
    [[nodiscard]] std::uint64_t reached() const noexcept { return reached_.load(std::memory_order_relaxed); }

    /// Returns how many samples were ever published.
    [[nodiscard]] std::uint64_t published() const noexcept;

  private:
    std::atomic<std::uint64_t> reached_{0};
    std::atomic<std::uint64_t> missing_{0};
    SequenceLock lock_;  // for skip_to()
};

/// A row of counters that one thread increments. Any thread can read a consistent copy, never half of a change.
///
/// Threads: begin(), add(), commit(): one writer. copy(): any.
/// Limits: the number of cells is fixed at construction.
/// Failure: none. copy() waits, without a lock, for a change in progress; keep the time between begin() and commit()
/// short.
class CounterPage {
  public:
    explicit CounterPage(std::size_t cells);

    /// Begins a change. add() is called between begin() and commit().
    void begin() noexcept { lock_.begin(); }
    void add(std::size_t cell, std::uint64_t amount) noexcept {
        cells_[cell].store(cells_[cell].load(std::memory_order_relaxed) + amount, std::memory_order_release);
    }
    void commit() noexcept { lock_.commit(); }

    /// Copies the first out.size() cells, at most cells(), as they were between two changes.
    void copy(std::span<std::uint64_t> out) const noexcept;
    [[nodiscard]] std::size_t cells() const noexcept { return size_; }

  private:
    const std::size_t size_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> cells_;
    SequenceLock lock_;
};

/// Why a sample was not published.
enum class DropReason : std::uint8_t {
    queue_overflow,  // the queue was full
    shutdown,        // the gateway stopped before the sample was published
};
inline constexpr std::size_t drop_reasons = 2;
[[nodiscard]] std::string_view to_string(DropReason reason) noexcept;

/// The outcomes of the samples of one device, of one channel, or of all.
struct LedgerCounts {
    std::uint64_t sampled = 0;
    std::uint64_t published = 0;
    std::uint64_t filtered = 0;
    std::uint64_t queued = 0;  // captured but not yet handled by the pump, including those in the queue
    std::array<std::uint64_t, drop_reasons> dropped{};

    [[nodiscard]] std::uint64_t dropped_total() const noexcept;
    /// Returns whether sampled = published + dropped + filtered + queued. Each is counted where it happens, so this can
    /// be false.
    [[nodiscard]] bool balanced() const noexcept;
    LedgerCounts& operator+=(const LedgerCounts& other) noexcept;
    /// Subtracts counts that were added before.
    LedgerCounts& operator-=(const LedgerCounts& other) noexcept;
};

/// The outcomes of the samples of one channel, and its losses for each reason.
struct ChannelLedgerCounts : LedgerCounts {
    std::array<ChannelDrops, drop_reasons> drops{};
};

/// Samples of a channel that were filtered out.
struct FilteredCount {
    ChannelId channel;
    std::uint64_t count = 0;
};

/// Counts every sample twice: per device by counting batches, and per channel by sequence numbers.
///
/// The sampling threads write one side of the ledger, the pump writes the other. A reader reads the pump's side first.
/// Every sample taken by then was captured earlier, so the sampling side, which is read later, includes it. Samples
/// captured in between count as queued; none is missing or counted twice. The devices of one sampling thread are read
/// as one consistent state; each other device and each channel is consistent on its own. All counts are released by
/// their writers and acquired by readers, and the queue orders the pump after the sampling threads.
///
/// A drop is recorded, its block is marked, and then drops_reported_ increases. The pump acquires the latter, takes the
/// mark, and reads the records. A mark is an exchange: after a store, the pump could take the mark of one thread
/// without seeing the record of another one, whose mark came before it.
///
/// Threads: captured(), dropped_at_queue(), filtered(): the thread that samples the device. separate(): one thread at a
/// time. progress(), taken(), dropped_at_pump(), each_newly_dropped(): the pump's thread. All others: any.
/// Limits: a fixed number of devices; memory for the existing channels, allocated when they are added. captured(),
/// filtered() and taken() accept at most batch_samples_max samples per call.
/// Failure: the constructor and separate() may throw std::bad_alloc; nothing else fails.
class Ledger {
  public:
    static constexpr std::size_t batch_samples_max = 256;

    Ledger(std::size_t devices, ChannelTable& channels);
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    /// Prepares for sampling the device on its own thread instead of the shared one. Idempotent.
    void separate(DeviceId device);

    /// Counts samples of `device` that were captured and are about to be offered to the queue.
    void captured(DeviceId device, std::span<const TelemetrySample> samples) noexcept;
    /// Counts samples of `device` that were filtered out before they got a sequence number.
    void filtered(DeviceId device, std::span<const FilteredCount> counts) noexcept;
    /// Counts a sample that the queue lost.
    void dropped_at_queue(const TelemetrySample& sample, DropReason reason) noexcept;

    /// Returns the pump's progress on a channel. The pump updates it for one batch and then calls taken().
    [[nodiscard]] ChannelProgress& progress(ChannelId channel) noexcept {
        return blocks_.of(channel).progress[Blocks::slot(channel)];
    }
    /// Counts what the pump did with one batch. Both spans are indexed by device; devices beyond the end had no
    /// samples.
    void taken(std::span<const std::uint64_t> taken, std::span<const std::uint64_t> published) noexcept;
    /// Counts a sample that was taken from the queue but can no longer be published. It also counts as taken.
    void dropped_at_pump(const TelemetrySample& sample, DropReason reason) noexcept;

    /// Returns the ledger of every device.
    [[nodiscard]] std::vector<LedgerCounts> cut() const { return cut(devices_); }
    /// Returns the ledger of the first `devices` devices only, while not all ids have been assigned.
    [[nodiscard]] std::vector<LedgerCounts> cut(std::size_t devices) const;
    /// Returns the last sequence number of a channel that was captured; 0: none.
    [[nodiscard]] std::uint64_t last_captured(ChannelId channel) const noexcept {
        return blocks_.of(channel).captured[Blocks::slot(channel)].load(std::memory_order_acquire);
    }
    /// Returns the ledger of a channel.
    [[nodiscard]] ChannelLedgerCounts counts_of(ChannelId channel) const noexcept;
    /// Returns the channel's losses for all reasons together.
    [[nodiscard]] ChannelDrops drops_of(ChannelId channel) const noexcept;
    /// Returns whether the ledger of each of the first `devices` devices matches the sum of its channels, except for
    /// one batch that is being counted on either side.
    [[nodiscard]] bool channels_agree(std::size_t devices) const;
    [[nodiscard]] std::size_t devices() const noexcept { return devices_; }

    /// The last sequence numbers of a channel that the queue has lost so far; 0 if none. Samples lost because of a
    /// shutdown come after all others.
    struct LostUpTo {
        std::uint64_t overflow = 0;
        std::uint64_t shutdown = 0;
    };
    /// Calls `report(channel, lost)` for each channel that may have lost samples in the queue since the last call.
    /// Costs almost nothing if there is none.
    template <class Report>
    void each_newly_dropped(const Report& report) {
        if (drops_seen_ != drops_reported_.load(std::memory_order_acquire)) {
            for_marked_blocks(report);
        }
    }

  private:
    /// Data of several channels. Data written by different threads is on different cache lines.
    struct Block {
        static constexpr std::size_t channels = 64;
        using Records = std::array<DropRecord, drop_reasons>;

        alignas(64) std::array<std::atomic<std::uint64_t>, channels> captured{};  // the last sequence number
        std::array<std::atomic<std::uint64_t>, channels> filtered{};
        std::array<Records, channels> dropped_at_queue;
        alignas(64) std::array<ChannelProgress, channels> progress{};
        std::array<Records, channels> dropped_at_pump;

        void begin(std::size_t /*slot*/, const ChannelInfo& /*info*/) noexcept {}
    };
    using Blocks = ChannelBlocks<Block>;
    static constexpr std::size_t blocks_max = ChannelTable::channels_max / Block::channels;

    /// The ledger page of the thread that samples the device, and the device's first cell in it.
    struct Page {
        CounterPage& counters;
        std::size_t base;
    };
    [[nodiscard]] Page page_of(DeviceId device) noexcept;
    [[nodiscard]] std::vector<LedgerCounts> sums_of_channels(std::size_t devices) const;
    [[nodiscard]] LostUpTo lost_up_to(ChannelId channel) const noexcept;

    template <class Report>
    void for_marked_blocks(const Report& report) {
        drops_seen_ = drops_reported_.load(std::memory_order_acquire);
        for (std::size_t block = 0; block * Block::channels < channels_.size(); ++block) {
            if (!marked_[block].load(std::memory_order_relaxed)) {
                continue;
            }
            marked_[block].exchange(false, std::memory_order_acquire);
            const std::size_t end = std::min((block + 1) * Block::channels, channels_.size());
            for (std::size_t index = block * Block::channels; index < end; ++index) {
                const auto channel = static_cast<ChannelId>(index);
                report(channel, lost_up_to(channel));
            }
        }
    }

    const std::size_t devices_;
    const ChannelTable& channels_;
    CounterPage producer_;                                   // of devices that share a thread
    std::unique_ptr<std::atomic<CounterPage*>[]> separate_;  // by device; null: on the shared page
    std::vector<std::unique_ptr<CounterPage>> pages_;        // owns the pages in separate_
    CounterPage consumer_;
    Blocks blocks_;
    std::array<std::atomic<bool>, blocks_max> marked_{};  // blocks with drops that the pump has not read
    std::atomic<std::uint64_t> drops_reported_{0};        // incremented after the mark
    std::uint64_t drops_seen_ = 0;                        // the pump's copy
};

}  // namespace telegate
