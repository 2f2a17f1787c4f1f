#include "device/sampler.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace telegate {
/// Threads: the sampling thread writes; the atomics and the histogram are what status() reads from any thread.
struct Sampler::Device {
    DeviceOptions options;
    std::unique_ptr<Driver> driver;
    SampleBatch batch;
    std::optional<MonoTime> due;  // of the next read; none while the deadline grid waits for its first step
    std::uint32_t errors_in_row = 0;

    std::atomic<DeviceState> state;
    std::atomic<std::size_t> channels{0};
    std::atomic<std::uint64_t> reads{0};
    std::atomic<std::uint64_t> reads_failed{0};
    std::atomic<std::uint64_t> ticks_missed{0};
    std::atomic<const char*> last_error{""};
    DurationHistogram lateness;

    Device(DeviceOptions device_options, std::unique_ptr<Driver> device_driver, ChannelTable& table, DeviceId id,
           std::function<void(std::span<const TelemetrySample>)> on_full)
        : options(std::move(device_options)),
          driver(std::move(device_driver)),
          batch(table, id, options.name, std::move(on_full)),
          state(options.started ? DeviceState::measuring : DeviceState::idle) {}

    [[nodiscard]] bool runs() const noexcept {
        const DeviceState current = state.load(std::memory_order_relaxed);
        return current == DeviceState::measuring || current == DeviceState::error;
    }
    void enter(DeviceState next) noexcept { state.store(next, std::memory_order_relaxed); }

    void count_channels() noexcept { channels.store(batch.channels(), std::memory_order_relaxed); }

    /// Counts the deadlines that passed unserved and moves on to the first one after `now`, on the same grid.
    void schedule_after(MonoTime now) noexcept {
        const auto missed = (now - *due) / options.interval;
        ticks_missed.fetch_add(static_cast<std::uint64_t>(missed), std::memory_order_relaxed);
        *due += (missed + 1) * options.interval;
    }

    void note_result(const ReadResult& result) noexcept {
        reads.fetch_add(1, std::memory_order_relaxed);
        if (result.status == ReadResult::Status::ok) {
            errors_in_row = 0;
            return enter(DeviceState::measuring);
        }
        reads_failed.fetch_add(1, std::memory_order_relaxed);
        last_error.store(result.what, std::memory_order_relaxed);
        ++errors_in_row;
        const bool gives_up = options.errors_before_safe != 0 && errors_in_row >= options.errors_before_safe;
        enter(gives_up ? DeviceState::safe : DeviceState::error);
    }

    void forget_errors() noexcept {
        errors_in_row = 0;
        last_error.store("", std::memory_order_relaxed);
    }

    void start(MonoTime now) noexcept {
        forget_errors();
        due = now;
        enter(DeviceState::measuring);
    }

    void reset() noexcept {
        driver->reset();
        forget_errors();
        if (state.load(std::memory_order_relaxed) == DeviceState::safe) {
            enter(DeviceState::idle);
        }
    }
};

Sampler::Sampler(const Clock& clock, ChannelTable& channels, BoundedQueue<TelemetrySample>& queue, Ledger& ledger,
                 Waker& waker)
    : clock_(clock), channels_(channels), queue_(queue), ledger_(ledger), waker_(waker) {}

Sampler::~Sampler() = default;

DeviceId Sampler::add(DeviceOptions options, std::unique_ptr<Driver> driver) {
    TELEGATE_ASSERT(devices_.size() < ledger_.devices());
    TELEGATE_ASSERT(!find(options.name));
    TELEGATE_ASSERT(options.interval >= DeviceOptions::interval_min);
    TELEGATE_ASSERT(options.interval <= DeviceOptions::interval_max);
    const auto id = static_cast<DeviceId>(devices_.size());
    const auto on_full = [this, index = devices_.size()](std::span<const TelemetrySample> samples) {
        hand_over(*devices_[index], samples);
    };
    Device& device =
        *devices_.emplace_back(std::make_unique<Device>(std::move(options), std::move(driver), channels_, id, on_full));
    device.driver->open(device.batch);
    device.count_channels();
    return id;
}

MonoTime Sampler::step(MonoTime now) {
    now_ = now;
    MonoTime next = MonoTime::max();
    for (const auto& device : devices_) {
        if (interrupted_.load(std::memory_order_relaxed)) {
            break;
        }
        if (!device->runs()) {
            continue;
        }
        if (!device->due) {
            device->due = now;
        }
        if (*device->due <= now) {
            // Looked up again, so that a device also shows the lateness that the ones before it have caused.
            const MonoTime at = std::max(now, clock_.mono_now());
            device->lateness.record(at - *device->due);
            read(*device, at);
            device->schedule_after(at);
        }
        if (device->runs()) {
            next = std::min(next, *device->due);
        }
    }
    return next;
}

void Sampler::read(Device& device, MonoTime now) {
    device.batch.begin(clock_.utc_now_ns(), to_ns(now));
    const ReadResult result = device.driver->read(device.batch, now);
    if (result.status == ReadResult::Status::failed) {
        device.batch.add_absent_for_missing();
    }
    device.count_channels();
    device.note_result(result);
    device.batch.flush();
}

void Sampler::hand_over(Device& device, std::span<const TelemetrySample> samples) {
    // Captured comes first: the pump may take a sample the moment it is pushed, and the books must know it by then.
    ledger_.captured(device.batch.device_id(), samples.size());
    std::size_t refused = 0;
    const auto on_loss = [&](const TelemetrySample& sample, QueueLoss loss) {
        const bool closed = loss == QueueLoss::closed;
        ledger_.dropped_at_queue(sample, closed ? DropReason::shutdown : DropReason::queue_overflow);
        refused += loss == QueueLoss::evicted ? 0 : 1;
    };
    // Before it waits for room, the consumer must have been told of everything that fills it.
    queue_.push(samples, on_loss, [this] {
        waits_for_room_.store(true, std::memory_order_relaxed);
        waker_.wake();
    });
    waits_for_room_.store(false, std::memory_order_relaxed);
    if (refused < samples.size()) {
        tell_consumer();
    }
}

void Sampler::tell_consumer() {
    if (waker_.is_patient() && now_ - told_at_ < untold_max && queue_.size() < queue_.capacity() / untold_share) {
        return;
    }
    told_at_ = now_;
    waker_.wake();
}

CommandResult Sampler::command(DeviceId device, DeviceCommand command, MonoTime now) {
    TELEGATE_ASSERT(to_index(device) < devices_.size());
    Device& target = *devices_[to_index(device)];
    const DeviceState before = target.state.load(std::memory_order_relaxed);
    if (command == DeviceCommand::reset) {
        target.reset();
    } else if (before == DeviceState::safe) {
        return {before, false};
    } else if (command == DeviceCommand::stop) {
        target.enter(DeviceState::idle);
    } else if (before == DeviceState::idle) {
        target.start(now);
    }
    return {target.state.load(std::memory_order_relaxed), true};
}

std::size_t Sampler::devices() const noexcept {
    return devices_.size();
}

std::optional<DeviceId> Sampler::find(std::string_view name) const noexcept {
    const auto known = std::find_if(devices_.begin(), devices_.end(),
                                    [&](const auto& device) { return device->options.name == name; });
    if (known == devices_.end()) {
        return std::nullopt;
    }
    return static_cast<DeviceId>(known - devices_.begin());
}

DeviceState Sampler::state(DeviceId device) const noexcept {
    TELEGATE_ASSERT(to_index(device) < devices_.size());
    return devices_[to_index(device)]->state.load(std::memory_order_relaxed);
}

DeviceStatus Sampler::status(DeviceId device) const {
    TELEGATE_ASSERT(to_index(device) < devices_.size());
    const Device& source = *devices_[to_index(device)];
    DeviceStatus status;
    status.name = source.options.name;
    status.state = source.state.load(std::memory_order_relaxed);
    status.interval = source.options.interval;
    status.channels = source.channels.load(std::memory_order_relaxed);
    status.reads = source.reads.load(std::memory_order_relaxed);
    status.reads_failed = source.reads_failed.load(std::memory_order_relaxed);
    status.ticks_missed = source.ticks_missed.load(std::memory_order_relaxed);
    status.last_error = source.last_error.load(std::memory_order_relaxed);
    status.lateness_p50 = source.lateness.quantile(0.50);
    status.lateness_p99 = source.lateness.quantile(0.99);
    status.lateness_max = source.lateness.maximum();
    return status;
}

}  // namespace telegate
