#include "device/sampler.hpp"

#include "core/assert.hpp"
#include "sampler_device.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace telegate {
namespace {

/// So that a change cannot fail half-way.
template <class T>
std::vector<T> with_room(std::size_t count) {
    std::vector<T> result;
    result.reserve(count);
    return result;
}

}  // namespace

Sampler::Sampler(const Clock& clock, ChannelTable& channels, BoundedQueue<TelemetrySample>& queue, Ledger& ledger,
                 Waker& waker)
    : clock_(clock),
      channels_(channels),
      queue_(queue),
      ledger_(ledger),
      waker_(waker),
      by_id_(std::make_unique<std::unique_ptr<Device>[]>(ledger.devices())),
      devices_(with_room<Device*>(ledger.devices())) {}

Sampler::~Sampler() = default;

MonoTime Sampler::step(MonoTime now) {
    now_ = now;
    MonoTime next = MonoTime::max();
    for (Device* const device : devices_) {
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
    device.batch->begin(clock_.utc_now_ns(), to_ns(now));
    const ReadResult result = device.driver->read(*device.batch, now);
    if (result.status == ReadResult::Status::failed) {
        device.batch->add_absent_for_missing();
    }
    device.count_channels();
    device.note_result(result);
    device.batch->flush();
}

void Sampler::hand_over(Device& device, std::span<const TelemetrySample> samples) {
    // Captured comes first: the pump may take a sample the moment it is pushed, and the books must know it by then.
    static_assert(SampleBatch::samples_max <= Ledger::batch_samples_max);
    ledger_.captured(device.id, samples);
    const auto on_loss = [&](const TelemetrySample& sample, QueueLoss loss) {
        ledger_.dropped_at_queue(sample, loss == QueueLoss::closed ? DropReason::shutdown : DropReason::queue_overflow);
    };
    // Before it waits for room, the consumer must have been told of everything that fills it.
    queue_.push(samples, on_loss, [this] {
        waits_for_room_.store(true, std::memory_order_relaxed);
        waker_.wake();
    });
    waits_for_room_.store(false, std::memory_order_relaxed);
    tell_consumer();  // also when all were refused: of that, too, it tells others
}

void Sampler::tell_consumer() {
    if (waker_.is_patient() && now_ - told_at_ < untold_max && queue_.size() < queue_.capacity() / untold_share) {
        return;
    }
    told_at_ = now_;
    waker_.wake();
}

CommandResult Sampler::command(DeviceId device, DeviceCommand command, MonoTime now) {
    TELEGATE_ASSERT(to_index(device) < names());
    Device& target = *by_id_[to_index(device)];
    const DeviceState before = target.state.load(std::memory_order_relaxed);
    if (target.driver == nullptr) {
        return {before, true};
    }
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

std::vector<DeviceId> Sampler::devices() const {
    std::vector<DeviceId> present;
    const std::size_t count = names();
    for (std::size_t index = 0; index < count; ++index) {
        if (by_id_[index]->present.load(std::memory_order_relaxed)) {
            present.push_back(by_id_[index]->id);
        }
    }
    return present;
}

Sampler::Device* Sampler::find_name(std::string_view name) const noexcept {
    const auto* const first = by_id_.get();
    const auto* const last = first + names();
    const auto* const known = std::find_if(first, last, [&](const auto& device) { return device->name == name; });
    return known == last ? nullptr : known->get();
}

std::optional<DeviceId> Sampler::find(std::string_view name) const noexcept {
    const Device* const device = find_name(name);
    if (device == nullptr || !device->present.load(std::memory_order_relaxed)) {
        return std::nullopt;
    }
    return device->id;
}

DeviceState Sampler::state(DeviceId device) const noexcept {
    TELEGATE_ASSERT(to_index(device) < names());
    return by_id_[to_index(device)]->state.load(std::memory_order_relaxed);
}

DeviceStatus Sampler::status(DeviceId device) const {
    TELEGATE_ASSERT(to_index(device) < names());
    const Device& source = *by_id_[to_index(device)];
    DeviceStatus status;
    status.name = source.name;
    status.state = source.state.load(std::memory_order_relaxed);
    status.interval = source.interval.load(std::memory_order_relaxed);
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
