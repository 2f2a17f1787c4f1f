#pragma once

#include "core/bounded_queue.hpp"
#include "core/channel_table.hpp"
#include "core/ledger.hpp"
#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/waker.hpp"
#include "json_encoder.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace telegate {

/// The parts that the pump joins. All outlive it.
struct PumpParts {
    Reactor& reactor;
    BoundedQueue<TelemetrySample>& queue;
    Waker& waker;
    const ChannelTable& channels;
    Ledger& ledger;
    Publisher& publisher;
};

/// Empties the queue into the publisher: takes samples in batches, encodes each once if anybody wants it, counts it,
/// keeps it as its channel's last value.
///
/// Threads: the reactor's, or any while the reactor does not run.
/// Limits:  batch_samples at a time, batches_per_turn in one turn of the loop; one last value per channel.
/// Failure: the first sample of a channel may throw std::bad_alloc.
class Pump {
  public:
    static constexpr std::size_t batch_samples = 256;    // 16 KiB of samples, some 50 KiB of JSON
    static constexpr std::size_t batches_per_turn = 16;  // then sessions get a turn to read and write

    Pump(PumpParts parts, std::int64_t epoch_ms);
    ~Pump();
    Pump(const Pump&) = delete;
    Pump& operator=(const Pump&) = delete;

    /// Begins to wait for wake-ups.
    void start();
    /// Leaves samples in the queue until resume(). For tests of overflow.
    void pause() noexcept { paused_ = true; }
    void resume();
    /// Publishes all that is in the queue now.
    void drain_all();
    /// Takes all that is in the queue and counts it as dropped.
    void discard_all(DropReason reason);

    /// The last sample of a channel, if it has had one.
    [[nodiscard]] const TelemetrySample* last(ChannelId channel) const noexcept;

  private:
    struct Channel {
        TopicId topic{};
        DeviceId device{};
        TelemetrySample last{};  // seq 0: none yet
    };
    struct Wait;

    void wait();
    void on_wake();
    /// Whether the batch was full, so that there may be more.
    bool pump_batch();
    void publish(const TelemetrySample& sample);
    Channel& channel_of(ChannelId id);

    PumpParts parts_;
    JsonEncoder encoder_;
    std::unique_ptr<Wait> wait_;
    std::vector<TelemetrySample> batch_;
    std::vector<std::uint64_t> taken_;      // per device, of the present batch
    std::vector<std::uint64_t> published_;  // the same
    std::vector<Channel> channels_;         // by id
    bool paused_ = false;
};

}  // namespace telegate
