#include "device/sampler.hpp"

#include "core/assert.hpp"
#include "core/start_thread.hpp"
#include "device/cancel_signal.hpp"
#include "sampler_device.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

namespace telegate {
namespace {

/// Limits how long a device waits for queue capacity, so a consumer that has stopped does not block commands.
constexpr Duration room_wait_max = std::chrono::seconds(1);
/// In this time the consumer takes a few hundred samples.
constexpr std::chrono::milliseconds room_check_interval{1};

/// Reserves memory in advance, so a change cannot fail halfway.
template <class T>
std::vector<T> with_room(std::size_t count) {
    std::vector<T> result;
    result.reserve(count);
    return result;
}

}  // namespace

std::string own_thread_name(std::string_view device) {
    return "tg-bus-" + std::string(device);
}

Sampler::Sampler(const Clock& clock, ChannelTable& channels, const Outputs& outputs)
    : clock_(clock),
      channels_(channels),
      queue_(outputs.queue),
      ledger_(outputs.ledger),
      waker_(outputs.waker),
      by_id_(std::make_unique<std::unique_ptr<Device>[]>(ledger_.devices())),
      devices_(with_room<Device*>(ledger_.devices())) {}

Sampler::~Sampler() = default;

MonoTime Sampler::step(MonoTime now) {
    MonoTime next = MonoTime::max();
    for (Device* const device : devices_) {
        if (interrupted_.load(std::memory_order_relaxed)) {
            break;
        }
        next = std::min(next, step(*device, now));
    }
    return next;
}

MonoTime Sampler::step_own(DeviceId device, MonoTime now) {
    Device& own = at(device);
    // The queue keeps the order within one producer only, so earlier samples from the shared producer must be taken
    // first.
    if (queue_.first().left() < own.shared_samples_until) {
        waker_.wake();
        return now + room_check_interval;
    }
    return step(own, now);
}

MonoTime Sampler::step(Device& device, MonoTime now) {
    if (!device.runs()) {
        return MonoTime::max();
    }
    return device.traits.streams ? step_stream(device, now) : step_on_grid(device, now);
}

MonoTime Sampler::step_on_grid(Device& device, MonoTime now) {
    DeadlineGrid& grid = device.grid;
    const bool by_wall = device.options.alignment == Alignment::wall;
    if (!grid.has_begun()) {
        grid.begin(now, by_wall ? utc_less_mono_ns(clock_) : 0);
    }
    if (grid.due() > now) {
        return grid.due();
    }
    const MonoTime expected = grid.due();
    const ClockPair both = read_both(clock_);
    if (by_wall) {
        const std::int64_t offset = both.utc_ns - both.mono_ns;
        if (grid.is_off(offset)) {
            grid.realign(offset);
        }
        if (grid.due() > now) {
            return grid.due();
        }
    }
    // Read again, so the lateness includes the delay caused by the devices before this one.
    const MonoTime at = std::max(now, MonoTime(Duration(both.mono_ns)));
    // A deadline that a clock step has moved back was not missed.
    device.lateness.record(at - std::max(expected, grid.due()));
    (void)device.breaker.allows(at);  // moves an open breaker to half open
    if (!read(device, at, both)) {
        return grid.due();
    }
    device.schedule_after(at);
    return device.runs() ? grid.due() : MonoTime::max();
}

MonoTime Sampler::step_stream(Device& device, MonoTime now) {
    if (now < device.retry_at) {
        return device.retry_at;
    }
    (void)device.breaker.allows(now);
    if (!read(device, now, read_both(clock_))) {
        return now;
    }
    if (device.consecutive_failures.load(std::memory_order_relaxed) == 0) {
        return now;
    }
    const MonoTime at = clock_.mono_now();
    device.retry_at = device.is_left_alone() ? device.breaker.retry_at() : at + device.options.interval;
    return device.runs() ? device.retry_at : MonoTime::max();
}

bool Sampler::read(Device& device, MonoTime now, const ClockPair& both) {
    device.read_at = now;
    device.in_reading = 0;
    device.batch->begin(both.utc_ns, both.mono_ns);
    const ReadResult result = device.driver->read(*device.batch, now);
    if (result.status == ReadResult::Status::failed) {
        if (device.own.load(std::memory_order_relaxed)) {
            device.batch->stamp_now();  // the driver may have waited
        }
        device.batch->add_absent_for_missing();
    }
    device.record_batch();
    const bool is_whole = result.status != ReadResult::Status::interrupted;
    if (is_whole) {
        device.record_result(result, both.utc_ns);
        device.record_clash();
    }
    device.batch->flush();
    return is_whole;
}

void Sampler::hand_over(Device& device, std::span<const TelemetrySample> samples) {
    reserve_queue(device, samples.size());
    if (!device.traits.waits_for_room) {
        push(device, samples);
        return;
    }
    const MonoTime until = std::chrono::steady_clock::now() + room_wait_max;
    while (!samples.empty()) {
        const auto portion = samples.first(std::min(samples.size(), queue_.guaranteed(*device.producer)));
        await_room(device, portion.size(), until);
        push(device, portion);
        samples = samples.subspan(portion.size());
    }
}

/// Makes the queue large enough before a reading with more samples than before enters it. The channels of a device that
/// sends data on its own count instead of its samples, so that a flood does not enlarge the queue.
void Sampler::reserve_queue(Device& device, std::size_t samples) {
    device.in_reading += samples;
    const std::size_t most = device.traits.streams ? device.batch->channels() : device.in_reading;
    if (most > device.need.reading && !device.traits.waits_for_room) [[unlikely]] {
        set_need(device, telegate::queue_need(device.traits, device.options.interval, most));
    }
}

/// Threads: the one that reads the device.
void Sampler::set_need(Device& device, const QueueNeed& need) {
    const QueueNeed before = std::exchange(device.need, need);
    if (before == need) {
        return;
    }
    if (device.producer == &queue_.first()) {
        need_shared_ -= before;
        need_shared_ += need;
        queue_.set_need(*device.producer, need_shared_.known, need_shared_.items);
    } else {
        queue_.set_need(*device.producer, need.known, need.items);
    }
    known_needed_.fetch_add(need.known - before.known, std::memory_order_relaxed);
    items_needed_.fetch_add(need.items - before.items, std::memory_order_relaxed);
    reading_needed_.fetch_add(need.reading - before.reading, std::memory_order_relaxed);
    if (need.reading > before.reading) {
        check_queue();
    }
}

void Sampler::check_queue() const {
    if (on_small_queue_ && reading_needed_.load(std::memory_order_relaxed) > queue_.certain()) {
        on_small_queue_();
    }
}

/// Waits for capacity in the device's share of the queue, which no other device can use.
void Sampler::await_room(const Device& device, std::size_t samples, MonoTime until) {
    const auto has_room = [&] {
        const std::size_t held = device.producer->size();
        return held == 0 || held + samples <= queue_.guaranteed(*device.producer);
    };
    while (!has_room() && std::chrono::steady_clock::now() < until) {
        waker_.wake();
        const MonoTime soon = std::chrono::steady_clock::now() + room_check_interval;
        if (wait_for(-1, 0, device.cancel.get(), soon).woken == Woken::canceled) {
            return;
        }
    }
}

void Sampler::push(const Device& device, std::span<const TelemetrySample> samples) {
    // The ledger must know the samples first, because the pump may take a sample as soon as it is pushed.
    static_assert(SampleBatch::samples_max <= Ledger::batch_samples_max);
    ledger_.captured(device.id, samples);
    const auto on_loss = [&](const TelemetrySample& sample, QueueLoss loss) {
        if (loss == QueueLoss::closed) {
            ledger_.dropped_at_queue(sample, DropReason::shutdown);
        } else {
            ledger_.dropped_at_queue(sample, DropReason::queue_overflow);
            at(channels_.at(sample.channel).device_id).overflowed_at.store(device.read_at, std::memory_order_relaxed);
        }
    };
    // Before this thread waits for capacity, the consumer must be notified of the samples that fill the queue.
    const bool is_shared = device.producer == &queue_.first();
    queue_.push(*device.producer, samples, on_loss, [this, is_shared] {
        if (is_shared) {
            waits_for_room_.store(true, std::memory_order_relaxed);
        }
        waker_.wake();
    });
    if (is_shared) {
        waits_for_room_.store(false, std::memory_order_relaxed);
    }
    notify_consumer();  // also if all were refused, because the consumer reports the loss
}

void Sampler::enter_filtered(Device& device, const FilteredSamples& filtered) {
    ledger_.filtered(device.id, filtered.channels);
    device.count_filtered(filtered.by_reason);
}

void Sampler::notify_consumer() {
    const auto has_few = [this] {
        return queue_.size() < std::min(queue_.capacity() / notify_queue_share, notify_samples_max);
    };
    waker_.is_low_power() && has_few() ? waker_.wake_later() : waker_.wake();
}

CommandResult Sampler::command(DeviceId device, DeviceCommand command) {
    Device& target = at(device);
    const DeviceState before = target.state.load(std::memory_order_relaxed);
    if (target.driver == nullptr) {
        return {before, true};
    }
    if (command == DeviceCommand::reset) {
        target.reset();
        target.report(DeviceTransition::reset);
    } else if (before == DeviceState::safe) {
        return {before, false};
    } else if (command == DeviceCommand::stop && before != DeviceState::idle) {
        target.enter(DeviceState::idle);
        target.report(DeviceTransition::stopped);
    } else if (command == DeviceCommand::start && before == DeviceState::idle) {
        target.start();
        target.report(DeviceTransition::started);
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

Sampler::Device& Sampler::at(DeviceId device) const noexcept {
    TELEGATE_ASSERT(to_index(device) < names());
    return *by_id_[to_index(device)];
}

bool Sampler::is_own(DeviceId device) const noexcept {
    return at(device).own.load(std::memory_order_relaxed);
}

std::optional<MonoTime> Sampler::overflowed_at(DeviceId device) const noexcept {
    const MonoTime time = at(device).overflowed_at.load(std::memory_order_relaxed);
    return time == MonoTime::min() ? std::nullopt : std::optional(time);
}

DeviceState Sampler::state(DeviceId device) const noexcept {
    return at(device).state.load(std::memory_order_relaxed);
}

DeviceStatus Sampler::status(DeviceId device) const {
    const Device& source = at(device);
    DeviceStatus status;
    status.name = source.name;
    status.state = source.state.load(std::memory_order_relaxed);
    status.interval = source.interval.load(std::memory_order_relaxed);
    status.channels = source.channels.load(std::memory_order_relaxed);
    status.reads = source.reads.load(std::memory_order_relaxed);
    status.reads_failed = source.reads_failed.load(std::memory_order_relaxed);
    status.ticks_missed = source.ticks_missed.load(std::memory_order_relaxed);
    for (std::size_t reason = 0; reason < filter_reasons; ++reason) {
        status.filtered_by[reason] = source.filtered_by[reason].load(std::memory_order_relaxed);
    }
    status.reads_skipped = source.reads_skipped.load(std::memory_order_relaxed);
    status.consecutive_failures = source.consecutive_failures.load(std::memory_order_relaxed);
    status.lost_at_source = source.lost_at_source.load(std::memory_order_relaxed);
    status.thread = "tg-sample";
    if (source.own.load(std::memory_order_relaxed)) {
        status.thread = own_thread_name(source.name).substr(0, thread_name_bytes_max);
        status.breaker = source.breaker_state.load(std::memory_order_relaxed);
    }
    status.last_error = source.last_error.load();
    status.refused = source.refused.load(std::memory_order_relaxed);
    status.last_refused = source.last_refused.load();
    status.last_refused_utc_ns = source.refused_utc_ns.load(std::memory_order_relaxed);
    status.is_error_current = source.is_error_current.load(std::memory_order_relaxed);
    status.last_error_utc_ns = source.last_error_utc_ns.load(std::memory_order_relaxed);
    status.last_good_utc_ns = source.last_good_utc_ns.load(std::memory_order_relaxed);
    status.state_since_utc_ns = source.state_since_utc_ns.load(std::memory_order_relaxed);
    status.is_wanted = source.is_wanted.load(std::memory_order_relaxed);
    status.outages = source.outages.load(std::memory_order_relaxed);
    status.samples_bad = source.samples_bad.load(std::memory_order_relaxed);
    status.lateness_p50 = source.lateness.quantile(0.50);
    status.lateness_p99 = source.lateness.quantile(0.99);
    status.lateness_max = source.lateness.maximum();
    return status;
}

}  // namespace telegate
