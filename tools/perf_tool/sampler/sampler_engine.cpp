#include "tick_engines.hpp"

#include "core/bounded_queue.hpp"
#include "core/channel_table.hpp"
#include "core/ledger.hpp"
#include "core/waker.hpp"
#include "device/driver.hpp"
#include "device/sampler.hpp"
#include "device/sampling_threads.hpp"

#include <poll.h>

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace telegate::perf {

namespace {

constexpr std::size_t queue_capacity = 65'536;  // more than a second of the highest rate
constexpr std::size_t pump_items = 256;         // what the pump takes at once

/// The system's clock. It remembers its answer before the last: at the first read of a device the last one is the time
/// of the read, and the one before it that of the step, where the deadlines of the device begin.
/// Threads: one at a time; the sampling thread once it runs.
class RememberingClock final : public Clock {
  public:
    [[nodiscard]] MonoTime mono_now() const noexcept override {
        before_last_ = std::exchange(last_, clock_.mono_now());
        return last_;
    }
    [[nodiscard]] std::int64_t utc_now_ns() const noexcept override { return clock_.utc_now_ns(); }
    [[nodiscard]] MonoTime before_last() const noexcept { return before_last_; }

  private:
    SystemClock clock_;
    mutable MonoTime last_{};
    mutable MonoTime before_last_{};
};

/// A device of one channel that notes when it is read.
/// Threads: the sampling thread.
class TickDriver final : public Driver {
  public:
    TickDriver(const RememberingClock& clock, TickRecord& record, std::atomic<bool>& complete)
        : clock_(clock), record_(record), complete_(complete) {}

    void open(SampleBatch& batch) override { channel_ = batch.add_channel("tick", "1"); }
    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override {
        if (record_.served() == 0) {
            record_.begin(clock_.before_last());
        }
        if (!record_.is_complete()) {
            record_.serve(now);
            if (record_.is_complete()) {
                complete_ = true;
                complete_.notify_all();
            }
        }
        batch.add(channel_, static_cast<std::int64_t>(record_.served()));
        return {};
    }
    void reset() noexcept override {}

  private:
    const RememberingClock& clock_;
    TickRecord& record_;
    std::atomic<bool>& complete_;
    SampleBatch::Channel channel_ = SampleBatch::Channel::none;
};

/// The parts of the gateway from the device to the queue.
struct SamplerLine {
    RememberingClock clock;
    ChannelTable channels;
    Ledger ledger{1, channels};
    BoundedQueue<TelemetrySample> queue{queue_capacity, OverflowPolicy::drop_oldest};
    Waker waker;
    Sampler sampler{clock, channels, queue, ledger, waker};
};

/// Takes the samples out, as the pump does, until `stop` is set and the queue is empty. Returns how many.
std::uint64_t take_out(SamplerLine& line, const std::atomic<bool>& stop) {
    std::array<TelemetrySample, pump_items> samples;
    std::uint64_t taken = 0;
    for (;;) {
        line.waker.clear();  // before it looks: what is told from here on wakes it again
        const bool is_last = stop.load();
        for (std::size_t count = line.queue.pop(samples); count > 0; count = line.queue.pop(samples)) {
            const std::array<std::uint64_t, 1> counts{count};
            line.ledger.taken(counts, counts);
            taken += count;
        }
        if (is_last) {
            return taken;
        }
        pollfd waiting{line.waker.descriptor(), POLLIN, 0};
        ::poll(&waiting, 1, -1);
    }
}

}  // namespace

TickRecord run_sampler(const TickWork& work) {
    TickRecord record(work.interval, work.ticks);
    std::atomic<bool> complete{false};
    SamplerLine line;
    DeviceOptions options;
    options.name = "clock";
    options.interval = work.interval;
    line.sampler.add(options, std::make_unique<TickDriver>(line.clock, record, complete));
    SamplingThreads thread(line.sampler, line.clock, work.schedule);
    std::atomic<bool> stop{false};
    std::uint64_t taken = 0;
    std::thread consumer([&] { taken = take_out(line, stop); });
    thread.start();
    complete.wait(false);
    thread.stop();
    stop = true;
    line.waker.wake();
    consumer.join();
    require_granted(thread.schedule());
    if (const Books books = line.ledger.cut()[0]; books.sampled != taken || !books.balanced()) {
        throw std::runtime_error("sampler: " + std::to_string(books.sampled) + " samples were taken from the device, " +
                                 std::to_string(taken) + " from the queue");
    }
    return record;
}

}  // namespace telegate::perf
