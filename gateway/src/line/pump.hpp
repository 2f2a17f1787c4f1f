#pragma once

#include "core/bounded_queue.hpp"
#include "core/channel_blocks.hpp"
#include "core/channel_table.hpp"
#include "core/ledger.hpp"
#include "core/reactor.hpp"
#include "core/waker.hpp"
#include "core/watch.hpp"
#include "line/sample_consumer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace telegate {

/// What the pump works on. All of it outlives the pump.
struct PumpParts {
    Reactor& reactor;
    BoundedQueue<TelemetrySample>& queue;
    Waker& waker;
    ChannelTable& channels;
    Ledger& ledger;
};

/// Empties the queue into the consumers: takes samples in batches, counts each once, and remembers the last one of each
/// channel. While no consumer is wanted, it wakes up only now and then. While a consumer must wait, samples stay in the
/// queue.
///
/// Samples that the queue dropped show as a hole in the sequence numbers of a channel. Consumers receive it as a gap
/// directly before the sample after it, or, when no sample follows, as soon as the queue is empty.
///
/// Threads: the reactor's, or any while the reactor does not run.
/// Limits:  batch_samples at a time, batches_per_turn in one turn of the loop; one last value per channel, whose memory
///          is there before the channel is; at most one notice per sample.
/// Failure: the first sample of a channel may throw std::bad_alloc; it is in the books by then.
class Pump {
  public:
    static constexpr std::size_t batch_samples = 256;    // 16 KiB of samples, some 50 KiB of JSON
    static constexpr std::size_t batches_per_turn = 16;  // then sessions get a turn to read and write
    static_assert(batch_samples <= Ledger::batch_samples_max);

    explicit Pump(const PumpParts& parts);

    /// Begins to wait for wake-ups.
    void start();
    /// Replaces the consumers, which outlive the pump or their replacement. Each batch goes to them in this order.
    void feed(std::vector<SampleConsumer*> consumers);
    [[nodiscard]] const std::vector<SampleConsumer*>& consumers() const noexcept { return consumers_; }
    /// Leaves samples in the queue until resume(). For tests of overflow.
    void pause() noexcept { paused_ = true; }
    void resume();
    /// Takes at once what has been left to wait while nobody subscribed; to be called when somebody does, or asks.
    void catch_up();
    /// Publishes now what one turn of the loop does, and wakes itself for the rest.
    void pump_some();
    /// Publishes all that is in the queue now, whoever wants to be waited for, and tells of all that it has lost.
    void drain_all();
    /// Takes all that is in the queue and counts it as dropped.
    void discard_all(DropReason reason);

    /// Samples taken from the queue to be published, ever.
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_ever_; }
    /// Whether the queue holds samples that need not wait for others.
    [[nodiscard]] bool has_work() const noexcept;

    /// Of a channel's last sample; 0 when it has had none.
    [[nodiscard]] std::uint64_t last_seq(ChannelId channel) const noexcept;
    /// The last sample of a channel, if it has had one and its device has it still.
    [[nodiscard]] const TelemetrySample* last(ChannelId channel) const noexcept;
    /// The same, whether its device has it still or not.
    [[nodiscard]] const TelemetrySample* last_ever(ChannelId channel) const noexcept;
    /// Whether a consumer must wait; then samples stay in the queue.
    [[nodiscard]] bool must_wait();
    /// The last number of a channel that was published or told of as lost; 0: none yet.
    [[nodiscard]] std::uint64_t reached(ChannelId channel) const noexcept {
        return parts_.ledger.progress(channel).reached();
    }

  private:
    struct alignas(64) Channel {  // a power of two of bytes is found in fewer steps
        TelemetrySample last{};   // seq 0: none yet
        DeviceId device{};
    };
    struct Block {
        static constexpr std::size_t channels = 64;
        std::array<Channel, channels> entries{};
        void begin(std::size_t slot, const ChannelInfo& info) noexcept { entries[slot].device = info.device_id; }
    };
    struct Hole {
        std::size_t before;  // index in the present batch
        SampleGap gap;
    };
    /// What the queue had lost of a channel when it was not empty yet.
    struct Loss {
        ChannelId channel;
        Ledger::LostUpTo up_to;
    };

    void on_wake();
    [[nodiscard]] bool is_wanted() const noexcept;
    /// Up to batches_per_turn batches; none while publishing is to wait, unless it `goes_on`. Whether there may be
    /// more.
    bool pump_turn(bool goes_on);
    /// Whether the batch was full, so that there may be more.
    bool pump_batch();
    void note(std::span<const TelemetrySample> samples);
    void note_taken(DeviceId device, std::size_t samples);
    void note_hole(std::size_t before, const TelemetrySample& sample, ChannelProgress& progress);
    void publish(std::span<const TelemetrySample> samples);
    void publish_part(std::span<const TelemetrySample> samples);
    void publish_gap(const SampleGap& gap);
    /// What has been lost and no sample shows. Whether there is something to tell when the queue is empty again.
    bool tell_losses();
    void tell_loss(ChannelId channel, std::uint64_t last_seq, DropReason reason);

    [[nodiscard]] Channel& of(ChannelId channel) const noexcept {
        return channels_.of(channel).entries[ChannelBlocks<Block>::slot(channel)];
    }

    const PumpParts parts_;
    std::vector<SampleConsumer*> consumers_;
    Watch wake_;
    std::vector<TelemetrySample> batch_;
    std::vector<std::uint64_t> taken_;  // per device that has had a sample, of the present batch
    std::vector<Hole> holes_;           // in the present batch
    std::vector<Loss> losses_;          // to be told when the queue has been empty
    ChannelBlocks<Block> channels_;
    std::uint64_t taken_ever_ = 0;
    bool paused_ = false;
    bool held_up_ = false;
};

}  // namespace telegate
