#include "line/pump.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

Pump::Pump(const PumpParts& parts)
    : parts_(parts),
      wake_(parts_.reactor, parts_.waker.descriptor(), [this] { on_wake(); }, {}),
      batch_(batch_samples),
      channels_(parts_.channels) {
    taken_.reserve(parts_.ledger.devices());
    holes_.reserve(batch_samples);
}

void Pump::feed(std::vector<SampleConsumer*> consumers) {
    TELEGATE_ASSERT(parts_.reactor.is_current());
    consumers_ = std::move(consumers);
    parts_.waker.wake();  // removed consumers no longer block it
}

bool Pump::must_wait() {
    bool waits = false;
    for (SampleConsumer* const consumer : consumers_) {
        waits = consumer->must_wait() || waits;
    }
    return waits;
}

void Pump::start() {
    wake_.wait_readable();
}

void Pump::on_wake() {
    parts_.waker.clear();  // before the check, so that samples pushed from here on wake the pump again
    if (!is_wanted()) {
        parts_.waker.begin_low_power();
    } else if (parts_.waker.is_low_power()) {
        parts_.waker.end_low_power();
    }
    wake_.wait_readable();
    pump_some();
}

void Pump::pump_some() {
    if (!paused_ && pump_turn(false)) {
        parts_.waker.wake();
    }
}

bool Pump::is_wanted() const noexcept {
    return std::any_of(consumers_.begin(), consumers_.end(),
                       [](const SampleConsumer* consumer) { return consumer->is_wanted(); });
}

void Pump::catch_up() {
    if (parts_.waker.is_low_power()) {
        parts_.waker.end_low_power();
        while (!paused_ && pump_turn(false)) {
        }
    }
}

void Pump::resume() {
    paused_ = false;
    parts_.waker.wake();
}

void Pump::drain_all() {
    while (pump_turn(true)) {
    }
}

bool Pump::pump_turn(bool goes_on) {
    std::size_t batches = 0;
    bool more = true;
    while (more && batches++ < batches_per_turn) {
        blocked_ = !goes_on && must_wait();
        more = !blocked_ && pump_batch();
    }
    if (!more && !blocked_) {
        more = tell_losses();
    }
    for (SampleConsumer* const consumer : consumers_) {
        consumer->flush();
    }
    return more;
}

bool Pump::pump_batch() {
    TELEGATE_ASSERT(parts_.reactor.is_current());
    const std::size_t count = parts_.queue.pop(batch_);
    if (count == 0) {
        return false;
    }
    taken_ever_ += count;
    const auto samples = std::span<const TelemetrySample>(batch_).first(count);
    note(samples);
    parts_.ledger.taken(taken_, taken_);  // counted before anything can fail: samples taken are published
    publish(samples);
    return count == batch_.size();
}

/// Counts the samples and stores the last one of each channel.
void Pump::note(std::span<const TelemetrySample> samples) {
    std::fill(taken_.begin(), taken_.end(), 0);
    holes_.clear();
    DeviceId device = of(samples.front().channel).device;
    std::size_t first = 0;  // index of the device's first sample; its samples are contiguous
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const TelemetrySample& sample = samples[i];
        Channel& channel = of(sample.channel);
        ChannelProgress& progress = parts_.ledger.progress(sample.channel);
        if (sample.seq != progress.reached() + 1) [[unlikely]] {
            note_hole(i, sample, progress);
        }
        progress.reach(sample.seq);
        channel.last = sample;
        if (channel.device != device) {
            note_taken(device, i - first);
            device = channel.device;
            first = i;
        }
    }
    note_taken(device, samples.size() - first);
}

void Pump::note_taken(DeviceId device, std::size_t samples) {
    if (to_index(device) >= taken_.size()) {
        taken_.resize(to_index(device) + 1);  // within the reserved capacity
    }
    taken_[to_index(device)] += samples;
}

void Pump::note_hole(std::size_t before, const TelemetrySample& sample, ChannelProgress& progress) {
    TELEGATE_ASSERT(sample.seq > progress.reached());  // the queue keeps the order of a channel
    holes_.push_back({before, {sample.channel, progress.reached() + 1, sample.seq - 1, DropReason::queue_overflow}});
    progress.skip_to(sample.seq - 1);
}

void Pump::publish(std::span<const TelemetrySample> samples) {
    std::size_t published = 0;
    for (const Hole& hole : holes_) {
        publish_part(samples.subspan(published, hole.before - published));
        published = hole.before;
        publish_gap(hole.gap);
    }
    publish_part(samples.subspan(published));
}

void Pump::publish_part(std::span<const TelemetrySample> samples) {
    if (samples.empty()) {
        return;
    }
    for (SampleConsumer* const consumer : consumers_) {
        consumer->take(samples);
    }
}

bool Pump::tell_losses() {
    // The queue is empty, so every sample that was in it when these losses were noted has been published. Whatever is
    // missing up to their numbers is lost.
    for (const auto& [channel, up_to] : losses_) {
        tell_loss(channel, up_to.overflow, DropReason::queue_overflow);
        tell_loss(channel, up_to.shutdown, DropReason::shutdown);
    }
    losses_.clear();
    parts_.ledger.each_newly_dropped([this](ChannelId channel, const Ledger::LostUpTo& up_to) {
        if (std::max(up_to.overflow, up_to.shutdown) > reached(channel)) {
            losses_.push_back({channel, up_to});
        }
    });
    return !losses_.empty();
}

void Pump::tell_loss(ChannelId channel, std::uint64_t last_seq, DropReason reason) {
    if (last_seq > reached(channel)) {
        publish_gap({channel, reached(channel) + 1, last_seq, reason});
        parts_.ledger.progress(channel).skip_to(last_seq);
    }
}

void Pump::publish_gap(const SampleGap& gap) {
    for (SampleConsumer* const consumer : consumers_) {
        consumer->gap(gap);
    }
}

void Pump::discard_all(DropReason reason) {
    while (const std::size_t count = parts_.queue.pop(batch_)) {
        for (const TelemetrySample& sample : std::span(batch_).first(count)) {
            parts_.ledger.dropped_at_pump(sample, reason);
        }
    }
}

bool Pump::has_work() const noexcept {
    return !parts_.waker.is_low_power() && !blocked_ && parts_.queue.size() > 0;
}

std::uint64_t Pump::last_seq(ChannelId channel) const noexcept {
    return of(channel).last.seq;
}

const TelemetrySample* Pump::last(ChannelId channel) const noexcept {
    return parts_.channels.is_current(channel) ? last_ever(channel) : nullptr;
}

const TelemetrySample* Pump::last_ever(ChannelId channel) const noexcept {
    const TelemetrySample& last = of(channel).last;
    return last.seq > 0 ? &last : nullptr;
}

}  // namespace telegate
