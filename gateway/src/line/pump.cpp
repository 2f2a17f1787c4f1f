#include "line/pump.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

namespace telegate {
namespace {

using SampleWords = std::array<std::uint64_t, sizeof(TelemetrySample) / sizeof(std::uint64_t)>;
constexpr std::size_t version_word = offsetof(TelemetrySample, seq) / sizeof(std::uint64_t);
constexpr std::size_t time_word = offsetof(TelemetrySample, time_mono_ns) / sizeof(std::uint64_t);

std::atomic_ref<std::uint64_t> sample_word(const TelemetrySample& sample, std::size_t word) noexcept {
    // There is no constant atomic_ref; readers modify nothing.
    return std::atomic_ref(reinterpret_cast<std::uint64_t*>(const_cast<TelemetrySample*>(&sample))[word]);
}

}  // namespace

Pump::Pump(const PumpParts& parts)
    : parts_(parts),
      wake_(parts_.reactor, parts_.waker.descriptor(),
            [this] {
                parts_.waker.clear();  // before the check, so that samples pushed from here on wake the pump again
                wake_.wait_readable();
                run_turn();
            },
            {}),
      late_wake_(parts_.reactor, parts_.waker.late_descriptor(),
                 [this] {
                     parts_.waker.clear_late();
                     late_wake_.wait_readable();
                     run_turn();
                 },
                 {}),
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
    late_wake_.wait_readable();
}

void Pump::run_turn() {
    const std::chrono::milliseconds delay = queue_delay_max();
    if (delay.count() > 0) {
        parts_.waker.begin_low_power(delay);
    } else if (parts_.waker.is_low_power()) {
        parts_.waker.end_low_power();
    }
    pump_some();
}

void Pump::pump_some() {
    if (!paused_ && pump_turn(false)) {
        parts_.waker.wake();
    }
}

std::chrono::milliseconds Pump::queue_delay_max() const noexcept {
    std::chrono::milliseconds delay = SampleConsumer::delay_longest;
    for (const SampleConsumer* const consumer : consumers_) {
        delay = std::min(delay, consumer->queue_delay_max());
    }
    return delay;
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
        more = report_losses();
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
    record(samples);
    parts_.ledger.taken(taken_, taken_);  // counted before anything can fail: samples taken are published
    publish(samples);
    return count == batch_.size();
}

/// Counts the samples and stores the last one of each channel.
void Pump::record(std::span<const TelemetrySample> samples) {
    std::fill(taken_.begin(), taken_.end(), 0);
    holes_.clear();
    DeviceId device = of(samples.front().channel).device;
    std::size_t first = 0;  // index of the device's first sample; its samples are contiguous
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const TelemetrySample& sample = samples[i];
        Channel& channel = of(sample.channel);
        ChannelProgress& progress = parts_.ledger.progress(sample.channel);
        if (sample.seq != progress.reached() + 1) [[unlikely]] {
            record_hole(i, sample, progress);
        }
        progress.reach(sample.seq);
        if (sample.quality == Quality::bad && channel.last.quality != Quality::bad) [[unlikely]] {
            channel.bad_from = MonoTime(std::chrono::nanoseconds(sample.time_mono_ns));
        }
        channel.store(sample);
        if (channel.device != device) {
            count_taken(device, i - first);
            device = channel.device;
            first = i;
        }
    }
    count_taken(device, samples.size() - first);
}

void Pump::count_taken(DeviceId device, std::size_t samples) {
    if (to_index(device) >= taken_.size()) {
        taken_.resize(to_index(device) + 1);  // within the reserved capacity
    }
    taken_[to_index(device)] += samples;
}

void Pump::record_hole(std::size_t before, const TelemetrySample& sample, ChannelProgress& progress) {
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
        consumer->consume(samples);
    }
}

bool Pump::report_losses() {
    // The queue is empty, so every sample that was in it when these losses were recorded has been published. Whatever
    // is missing up to their numbers is lost.
    for (const auto& [channel, up_to] : losses_) {
        report_loss(channel, up_to.overflow, DropReason::queue_overflow);
        report_loss(channel, up_to.shutdown, DropReason::shutdown);
    }
    losses_.clear();
    parts_.ledger.each_newly_dropped([this](ChannelId channel, const Ledger::LostUpTo& up_to) {
        if (std::max(up_to.overflow, up_to.shutdown) > reached(channel)) {
            losses_.push_back({channel, up_to});
        }
    });
    return !losses_.empty();
}

void Pump::report_loss(ChannelId channel, std::uint64_t last_seq, DropReason reason) {
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
    std::map<ChannelId, SampleGap> discarded;  // the last range of each channel
    while (const std::size_t count = parts_.queue.pop(batch_)) {
        for (const TelemetrySample& sample : std::span(batch_).first(count)) {
            parts_.ledger.dropped_at_pump(sample, reason);
            record_discarded(sample, reason, discarded);
        }
    }
    for (const auto& [channel, gap] : discarded) {
        report_loss(channel, gap.first_seq - 1, DropReason::queue_overflow);
        report_loss(channel, gap.last_seq, reason);
    }
    while (report_losses()) {
    }
}

/// Adds a sample to the range of its channel.
void Pump::record_discarded(const TelemetrySample& sample, DropReason reason,
                            std::map<ChannelId, SampleGap>& discarded) {
    SampleGap& gap =
        discarded.try_emplace(sample.channel, SampleGap{sample.channel, sample.seq, 0, reason}).first->second;
    if (gap.last_seq > 0 && sample.seq != gap.last_seq + 1) {
        report_loss(gap.channel, gap.first_seq - 1, DropReason::queue_overflow);
        report_loss(gap.channel, gap.last_seq, reason);
        gap.first_seq = sample.seq;
    }
    gap.last_seq = sample.seq;
}

bool Pump::has_work() const noexcept {
    return !blocked_ && parts_.queue.size() > 0;
}

std::uint64_t Pump::last_seq(ChannelId channel) const noexcept {
    return of(channel).last.seq;
}

/// Writes a sample that other threads may be reading. The sequence number, which never repeats, is the version: it is 0
/// while the other words change. Release order: a reader that sees a new word also sees that. On x86 it costs no more
/// than plain stores.
void Pump::Channel::store(const TelemetrySample& sample) noexcept {
    SampleWords words{};
    std::memcpy(words.data(), &sample, sizeof sample);
    sample_word(last, version_word).store(0, std::memory_order_relaxed);
    for (std::size_t word = 0; word < words.size(); ++word) {
        if (word != version_word) {
            sample_word(last, word).store(words[word], std::memory_order_release);
        }
    }
    sample_word(last, version_word).store(words[version_word], std::memory_order_release);
}

bool Pump::copy_last(ChannelId channel, TelemetrySample& out) const noexcept {
    if (!parts_.channels.is_current(channel)) {
        return false;
    }
    const TelemetrySample& last = of(channel).last;
    SampleWords words{};
    for (;; std::this_thread::yield()) {
        const std::uint64_t version = sample_word(last, version_word).load(std::memory_order_acquire);
        for (std::size_t word = 0; word < words.size(); ++word) {
            words[word] = sample_word(last, word).load(std::memory_order_acquire);
        }
        if (version == 0 && words[time_word] == 0) {
            return false;
        }
        // The acquire loads of the words come before this load.
        if (version != 0 && sample_word(last, version_word).load(std::memory_order_relaxed) == version) {
            words[version_word] = version;
            std::memcpy(&out, words.data(), sizeof out);
            return true;
        }
    }
}

const TelemetrySample* Pump::last(ChannelId channel) const noexcept {
    return parts_.channels.is_current(channel) ? last_ever(channel) : nullptr;
}

const TelemetrySample* Pump::last_ever(ChannelId channel) const noexcept {
    const TelemetrySample& last = of(channel).last;
    return last.seq > 0 ? &last : nullptr;
}

}  // namespace telegate
