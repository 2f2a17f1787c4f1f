#pragma once

#include "cbor_encoder.hpp"
#include "core/bounded_queue.hpp"
#include "core/channel_table.hpp"
#include "core/ledger.hpp"
#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/waker.hpp"
#include "history.hpp"
#include "json_encoder.hpp"
#include "open_streams.hpp"
#include "outlet.hpp"
#include "payload_format.hpp"
#include "per_channel.hpp"
#include "record_encoder.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace telegate {

/// One format and who publishes in it.
struct FormatPublisher {
    PayloadFormat format;
    Publisher& publisher;
};

/// The parts that the pump joins. All outlive it.
struct PumpParts {
    Reactor& reactor;
    BoundedQueue<TelemetrySample>& queue;
    Waker& waker;
    const ChannelTable& channels;
    Ledger& ledger;
    std::vector<FormatPublisher> publishers;
    History* history = nullptr;      // null: none is kept
    OpenStreams* streams = nullptr;  // null: there are none
};

/// Empties the queue into the publishers: takes samples in batches, encodes each once per format that anybody wants it
/// in, counts it once, keeps it as its channel's last value and in the history. While nobody subscribes to anything or
/// has a stream open it is content with a wake-up now and then.
///
/// Threads: the reactor's, or any while the reactor does not run.
/// Limits:  batch_samples at a time, batches_per_turn in one turn of the loop; one last value per channel.
/// Failure: the first sample of a channel may throw std::bad_alloc; what was taken with it is in no book then.
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
    /// From the next batch on publishes to these, in place of those before. A format that stays keeps what it knows.
    void publish_to(std::vector<FormatPublisher> publishers);
    /// Leaves samples in the queue until resume(). For tests of overflow.
    void pause() noexcept { paused_ = true; }
    void resume();
    /// Takes at once what has been left to wait while nobody subscribed; to be called when somebody does, or asks.
    void catch_up();
    /// Publishes all that is in the queue now.
    void drain_all();
    /// Takes all that is in the queue and counts it as dropped.
    void discard_all(DropReason reason);

    /// Samples taken from the queue to be published, ever.
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_ever_; }
    /// Whether the queue holds samples that need not wait for others.
    [[nodiscard]] bool has_work() const noexcept;

    /// The last sample of a channel, if it has had one and its device has it still.
    [[nodiscard]] const TelemetrySample* last(ChannelId channel) const noexcept;

  private:
    using AnyOutlet = std::variant<Outlet<JsonEncoder>, Outlet<CborEncoder>, Outlet<RecordEncoder>>;
    struct Channel {
        DeviceId device{};
        TelemetrySample last{};  // seq 0: none yet
    };
    struct Wait;

    void wait();
    void on_wake();
    [[nodiscard]] bool is_wanted() const noexcept;
    [[nodiscard]] AnyOutlet make_outlet(const FormatPublisher& to) const;
    /// Up to batches_per_turn batches. Whether there may be more.
    bool pump_turn();
    /// Whether the batch was full, so that there may be more.
    bool pump_batch();
    void note(std::span<const TelemetrySample> samples);

    PumpParts parts_;
    const std::int64_t epoch_ms_;
    std::vector<AnyOutlet> outlets_;  // one for each of the publishers, in their order
    std::unique_ptr<Wait> wait_;
    std::vector<TelemetrySample> batch_;
    std::vector<std::uint64_t> taken_;  // per device that has had a sample, of the present batch
    PerChannel<Channel> channels_;
    std::uint64_t taken_ever_ = 0;
    bool paused_ = false;
};

}  // namespace telegate
