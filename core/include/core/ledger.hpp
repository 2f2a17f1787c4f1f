#pragma once

#include "core/channel_blocks.hpp"
#include "core/channel_progress.hpp"
#include "core/channel_table.hpp"
#include "core/counter_page.hpp"
#include "core/drop_record.hpp"
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

/// Why a sample was not published.
enum class DropReason : std::uint8_t {
    queue_overflow,  // the queue was full
    shutdown,        // the gateway stopped before the sample could leave
};
inline constexpr std::size_t drop_reasons = 2;
[[nodiscard]] std::string_view to_string(DropReason reason) noexcept;

/// Where the samples of one device, of one channel or of all have gone.
struct Books {
    std::uint64_t sampled = 0;
    std::uint64_t published = 0;
    std::uint64_t filtered = 0;
    std::uint64_t queued = 0;  // between the sampler's hand and the pump's, the queue included
    std::array<std::uint64_t, drop_reasons> dropped{};

    [[nodiscard]] std::uint64_t dropped_total() const noexcept;
    /// sampled = published + dropped + filtered + queued. Each is counted where it happens, so this can be false.
    [[nodiscard]] bool balanced() const noexcept;
    Books& operator+=(const Books& other) noexcept;
    /// Takes out again what is in it.
    Books& operator-=(const Books& other) noexcept;
};

/// Where the samples of one channel have gone, and what it has lost for each reason.
struct ChannelBooks : Books {
    std::array<ChannelDrops, drop_reasons> drops{};
};

/// Samples of a channel that were held back on purpose.
struct FilteredCount {
    ChannelId channel;
    std::uint64_t count = 0;
};

/// The one place that counts samples, twice: per device by counting batches, per channel by the numbers of the samples.
///
/// The sampling threads write one side, the pump the other. A reader reads the pump's side first: whatever it had taken
/// by then had been captured before, so that the other side, read later, holds it. What was captured in between counts
/// as queued, and nothing is missing or counted twice. A reader gets the devices of one sampling thread all from one
/// moment, each other device and each channel from one.
///
/// Threads: captured(), dropped_at_queue(), filtered() the thread that samples the device; separate() one at a time;
///          progress(), taken(), dropped_at_pump() and each_newly_dropped() the pump's thread; all else any.
/// Limits:  a fixed number of devices; memory for the channels that there are, made when they are. captured(),
///          filtered() and taken() are told of at most batch_samples_max samples at once.
/// Failure: the constructor and separate() may throw std::bad_alloc; nothing else fails.
class Ledger {
  public:
    static constexpr std::size_t batch_samples_max = 256;

    Ledger(std::size_t devices, ChannelTable& channels);
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    /// Prepares for a thread of its own to sample the device, next to the one that samples all others. Idempotent.
    void separate(DeviceId device);

    /// These samples of `device` have been captured and are about to be offered to the queue.
    void captured(DeviceId device, std::span<const TelemetrySample> samples) noexcept;
    /// These samples of `device` were taken from it and held back on purpose, before they had a number.
    void filtered(DeviceId device, std::span<const FilteredCount> counts) noexcept;
    void dropped_at_queue(const TelemetrySample& sample, DropReason reason) noexcept;

    /// The pump's own count of a channel. What it raises there for one batch it tells taken() afterwards.
    [[nodiscard]] ChannelProgress& progress(ChannelId channel) noexcept {
        return blocks_.of(channel).progress[Blocks::slot(channel)];
    }
    /// What the pump did with one batch. Index of both: device; those behind had none.
    void taken(std::span<const std::uint64_t> taken, std::span<const std::uint64_t> published) noexcept;
    /// A sample that was taken from the queue but can no longer be published. Counts as taken.
    void dropped_at_pump(const TelemetrySample& sample, DropReason reason) noexcept;

    /// Books of every device.
    [[nodiscard]] std::vector<Books> cut() const { return cut(devices_); }
    /// Of the first ones only, where not all ids have been given out.
    [[nodiscard]] std::vector<Books> cut(std::size_t devices) const;
    [[nodiscard]] ChannelBooks books_of(ChannelId channel) const noexcept;
    /// What the channel has lost for all reasons together.
    [[nodiscard]] ChannelDrops drops_of(ChannelId channel) const noexcept;
    /// Whether the books of the first devices say what those of their channels say, but for one batch that is being
    /// counted on either side.
    [[nodiscard]] bool channels_agree(std::size_t devices) const;
    [[nodiscard]] std::size_t devices() const noexcept { return devices_; }

    /// What the queue has lost of a channel by now, up to these numbers; 0: none. Whatever is lost for good because of
    /// a shutdown comes behind all else.
    struct LostUpTo {
        std::uint64_t overflow = 0;
        std::uint64_t shutdown = 0;
    };
    /// `tell(channel, lost)` for each channel that may have lost samples at the queue since the last call. Costs next
    /// to nothing when there is none.
    template <class Tell>
    void each_newly_dropped(const Tell& tell) {
        if (drops_seen_ != drops_noted_.load(std::memory_order_acquire)) {
            for_marked_blocks(tell);
        }
    }

  private:
    /// Of some channels. What different threads write is on different cache lines.
    struct Block {
        static constexpr std::size_t channels = 64;
        using Records = std::array<DropRecord, drop_reasons>;

        alignas(64) std::array<std::atomic<std::uint64_t>, channels> captured{};  // the last seq
        std::array<std::atomic<std::uint64_t>, channels> filtered{};
        std::array<Records, channels> dropped_at_queue;
        alignas(64) std::array<ChannelProgress, channels> progress{};
        std::array<Records, channels> dropped_at_pump;

        void begin(std::size_t /*slot*/, const ChannelInfo& /*info*/) noexcept {}
    };
    using Blocks = ChannelBlocks<Block>;
    static constexpr std::size_t blocks_max = ChannelTable::channels_max / Block::channels;

    /// Where the thread that samples the device counts it, and its first cell there.
    struct Page {
        CounterPage& counters;
        std::size_t base;
    };
    [[nodiscard]] Page page_of(DeviceId device) noexcept;
    [[nodiscard]] std::vector<Books> sums_of_channels(std::size_t devices) const;
    [[nodiscard]] LostUpTo lost_up_to(ChannelId channel) const noexcept;

    template <class Tell>
    void for_marked_blocks(const Tell& tell) {
        drops_seen_ = drops_noted_.load(std::memory_order_acquire);
        for (std::size_t block = 0; block * Block::channels < channels_.size(); ++block) {
            if (!marked_[block].load(std::memory_order_relaxed)) {
                continue;
            }
            marked_[block].exchange(false, std::memory_order_acquire);
            const std::size_t end = std::min((block + 1) * Block::channels, channels_.size());
            for (std::size_t index = block * Block::channels; index < end; ++index) {
                const auto channel = static_cast<ChannelId>(index);
                tell(channel, lost_up_to(channel));
            }
        }
    }

    const std::size_t devices_;
    const ChannelTable& channels_;
    CounterPage producer_;                                   // of devices that share a thread
    std::unique_ptr<std::atomic<CounterPage*>[]> separate_;  // by device; null: in the page of all
    std::vector<std::unique_ptr<CounterPage>> pages_;        // what separate_ points to
    CounterPage consumer_;
    Blocks blocks_;
    std::array<std::atomic<bool>, blocks_max> marked_{};  // blocks with drops that the pump has not looked at
    std::atomic<std::uint64_t> drops_noted_{0};           // raised after the mark
    std::uint64_t drops_seen_ = 0;                        // the pump's
};

}  // namespace telegate
