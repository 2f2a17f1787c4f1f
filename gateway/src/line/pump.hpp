#pragma once

#include "core/bounded_queue.hpp"
#include "core/channel_blocks.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "core/ledger.hpp"
#include "core/reactor.hpp"
#include "core/waker.hpp"
#include "core/watch.hpp"
#include "line/sample_consumer.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace telegate {

/// The parts that the pump uses. They must outlive the pump.
struct PumpParts {
    Reactor& reactor;
    BoundedQueue<TelemetrySample>& queue;
    QueueWaker& waker;
    ChannelTable& channels;
    Ledger& ledger;
};

/// Drains the queue into the consumers: takes samples in batches, counts each one once, and stores the last sample of
/// each channel. While no consumer needs samples immediately, it wakes up rarely (low-power mode), but early enough for
/// each consumer's queue_delay_max(). While a consumer must wait, samples stay in the queue.
///
/// Samples that the queue dropped appear as a hole in the sequence numbers of a channel. Consumers receive it as a gap
/// directly before the next sample, or, if no sample follows, as soon as the queue is empty.
///
/// Threads: the reactor's, or any while the reactor does not run; copy_last(): any.
/// Limits: batch_samples at a time, batches_per_turn per event-loop iteration; one last value per channel, whose memory
/// exists before the channel does; at most one gap per sample.
/// Failure: the first sample of a channel may throw std::bad_alloc after the ledger has counted it.
class Pump {
  public:
    static constexpr std::size_t batch_samples = 256;    // 16 KiB of samples, about 50 KiB of JSON
    static constexpr std::size_t batches_per_turn = 16;  // then sessions can read and write
    static_assert(batch_samples <= Ledger::batch_samples_max);

    explicit Pump(const PumpParts& parts);

    /// Starts to wait for wake-ups.
    void start();
    /// Replaces the consumers, which must outlive the pump or their replacement. They receive each batch in this order.
    void feed(std::vector<SampleConsumer*> consumers);
    [[nodiscard]] const std::vector<SampleConsumer*>& consumers() const noexcept { return consumers_; }
    /// Keeps samples in the queue until resume(). For overflow tests.
    void pause() noexcept { paused_ = true; }
    void resume();
    /// Publishes samples that the low-power mode left in the queue; must be called when a peer subscribes or requests
    /// data.
    void catch_up();
    /// Publishes one iteration's batches now, and wakes the pump for the rest.
    void pump_some();
    /// Drains the queue, ignoring consumers that must wait, and reports every loss as a gap.
    void drain_all();
    /// Empties the queue at the end of the process: counts the samples as dropped, and reports them and all other
    /// losses as gaps. Without memory for the gaps, they are only counted.
    void discard_all(DropReason reason);

    /// Returns the total number of samples taken from the queue for publishing.
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_ever_; }
    /// Returns whether the queue holds samples to publish: those of less than a second, unless a consumer must wait or
    /// the pump has stopped.
    [[nodiscard]] bool has_work() const noexcept;

    /// Returns the sequence number of the channel's last sample; 0: none yet.
    [[nodiscard]] std::uint64_t last_seq(ChannelId channel) const noexcept;
    /// Returns the last sample of a channel; null if it has none or if its device no longer has the channel.
    [[nodiscard]] const TelemetrySample* last(ChannelId channel) const noexcept;
    /// Like last(), even if the device no longer has the channel.
    [[nodiscard]] const TelemetrySample* last_ever(ChannelId channel) const noexcept;
    /// Copies the last sample of a channel, like last(). Returns false if there is none. Threads: any; waits, without a
    /// lock, for a write that is in progress.
    [[nodiscard]] bool copy_last(ChannelId channel, TelemetrySample& out) const noexcept;
    /// Returns the capture time of the first of the bad samples without another one in between that end with the last
    /// sample of the channel. Only meaningful while the last sample is bad.
    [[nodiscard]] MonoTime bad_from(ChannelId channel) const noexcept { return of(channel).bad_from; }
    /// Returns whether a consumer must wait; then samples stay in the queue.
    [[nodiscard]] bool must_wait();
    /// Returns the last sequence number of a channel that was published or reported as lost; 0: none yet.
    [[nodiscard]] std::uint64_t reached(ChannelId channel) const noexcept {
        return parts_.ledger.progress(channel).reached();
    }

  private:
    struct alignas(64) Channel {  // a power of two makes indexing fast
        TelemetrySample last{};   // seq 0: none yet; other threads read it, see copy_last()
        DeviceId device{};
        MonoTime bad_from{};

        void store(const TelemetrySample& sample) noexcept;
    };
    struct Block {
        static constexpr std::size_t channels = 64;
        std::array<Channel, channels> entries{};
        void begin(std::size_t slot, const ChannelInfo& info) noexcept { entries[slot].device = info.device_id; }
    };
    struct Hole {
        std::size_t before;  // index in the current batch
        SampleGap gap;
    };
    /// Losses of a channel in the queue, recorded while the queue was not empty.
    struct Loss {
        ChannelId channel;
        Ledger::LostUpTo up_to;
    };

    void run_turn();
    [[nodiscard]] std::chrono::milliseconds queue_delay_max() const noexcept;
    /// Publishes up to batches_per_turn batches; none while a consumer must wait, unless `goes_on`. Returns whether
    /// more may remain.
    bool pump_turn(bool goes_on);
    /// Returns whether the batch was full, so that more may remain.
    bool pump_batch();
    void record(std::span<const TelemetrySample> samples);
    void count_taken(DeviceId device, std::size_t samples);
    void record_hole(std::size_t before, const TelemetrySample& sample, ChannelProgress& progress);
    void publish(std::span<const TelemetrySample> samples);
    void publish_part(std::span<const TelemetrySample> samples);
    void publish_gap(const SampleGap& gap);
    /// Reports losses that no later sample revealed. Returns whether losses remain to be reported when the queue is
    /// empty again.
    bool report_losses();
    void report_loss(ChannelId channel, std::uint64_t last_seq, DropReason reason);
    void record_discarded(const TelemetrySample& sample, DropReason reason, std::map<ChannelId, SampleGap>& discarded);

    [[nodiscard]] Channel& of(ChannelId channel) const noexcept {
        return channels_.of(channel).entries[ChannelBlocks<Block>::slot(channel)];
    }

    const PumpParts parts_;
    std::vector<SampleConsumer*> consumers_;
    Watch wake_;
    Watch late_wake_;
    std::vector<TelemetrySample> batch_;
    std::vector<std::uint64_t> taken_;  // in the current batch, per device with a sample
    std::vector<Hole> holes_;           // in the current batch
    std::vector<Loss> losses_;          // to report after the queue was empty
    ChannelBlocks<Block> channels_;
    std::uint64_t taken_ever_ = 0;
    bool paused_ = false;
    bool blocked_ = false;
};

}  // namespace telegate
