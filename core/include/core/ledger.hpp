#pragma once

#include "core/channel_table.hpp"
#include "core/counter_page.hpp"
#include "core/telemetry_sample.hpp"

#include <array>
#include <atomic>
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

/// Where the samples of one device, or of all, have gone.
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

/// What one channel has lost: how many samples, and the first and last `seq` of them.
struct ChannelDrops {
    std::uint64_t count = 0;
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;
};

/// The one place that counts samples. The sampling thread writes one page, the pump the other; a reader gets a cut
/// through both in which no sample is missing or counted twice.
///
/// Threads: captured(), dropped_at_queue(), filtered() the sampling thread; taken() and dropped_at_pump() the pump's
///          thread; cut(), drops_of() any.
/// Limits:  a fixed number of devices; drop records in blocks, up to ChannelTable::channels_max.
/// Failure: the first drop in a block of channels may throw std::bad_alloc.
class Ledger {
  public:
    Ledger(std::size_t devices, const ChannelTable& channels);
    ~Ledger();
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    /// `count` samples of `device` have been captured and are about to be offered to the queue.
    void captured(DeviceId device, std::uint64_t count) noexcept;
    /// `count` samples of `device` were captured and held back on purpose.
    void filtered(DeviceId device, std::uint64_t count) noexcept;
    void dropped_at_queue(const TelemetrySample& sample, DropReason reason);

    /// What the pump did with one batch. Index of both: device; those behind had none.
    void taken(std::span<const std::uint64_t> taken, std::span<const std::uint64_t> published) noexcept;
    /// A sample that was taken from the queue but can no longer be published. Counts as taken.
    void dropped_at_pump(const TelemetrySample& sample, DropReason reason);

    /// Books of every device, all from one moment.
    [[nodiscard]] std::vector<Books> cut() const { return cut(devices_); }
    /// Of the first ones only, where not all ids have been given out.
    [[nodiscard]] std::vector<Books> cut(std::size_t devices) const;
    [[nodiscard]] ChannelDrops drops_of(ChannelId channel) const noexcept;
    [[nodiscard]] std::size_t devices() const noexcept { return devices_; }

  private:
    struct DropCell;
    struct DropBlock;
    void note_drop(const TelemetrySample& sample);

    const std::size_t devices_;
    const ChannelTable& channels_;
    CounterPage producer_;
    CounterPage consumer_;
    std::unique_ptr<std::atomic<DropBlock*>[]> drop_blocks_;
};

}  // namespace telegate
