#include "line/pump.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

Pump::Pump(PumpParts parts, std::int64_t epoch_ms)
    : parts_(std::move(parts)),
      epoch_ms_(epoch_ms),
      wake_(parts_.reactor, parts_.waker.descriptor(), [this] { on_wake(); }, {}),
      batch_(batch_samples),
      channels_(parts_.channels),
      notices_(parts_.channels, epoch_ms) {
    taken_.reserve(parts_.ledger.devices());
    holes_.reserve(batch_samples);
    notices_.publish_to(parts_.publishers);
    for (const FormatPublisher& to : parts_.publishers) {
        outlets_.push_back(make_outlet(to));
    }
    hear_of_room();
}

Pump::~Pump() {
    for (const FormatPublisher& to : parts_.publishers) {
        to.publisher.set_on_room({});
    }
}

Pump::AnyOutlet Pump::make_outlet(const FormatPublisher& to) const {
    switch (to.format) {
        case PayloadFormat::json: break;
        case PayloadFormat::cbor: return Outlet<CborEncoder>(to.publisher, parts_.channels, epoch_ms_, parts_.tags);
        case PayloadFormat::record: return Outlet<RecordEncoder>(to.publisher, parts_.channels, epoch_ms_);
    }
    return Outlet<JsonEncoder>(to.publisher, parts_.channels, epoch_ms_, parts_.tags);
}

void Pump::publish_to(std::vector<FormatPublisher> publishers) {
    TELEGATE_ASSERT(parts_.reactor.is_current());
    std::vector<AnyOutlet> outlets;
    for (const FormatPublisher& to : publishers) {
        const auto known =
            std::find_if(parts_.publishers.begin(), parts_.publishers.end(),
                         [&](const FormatPublisher& before) { return &before.publisher == &to.publisher; });
        outlets.push_back(known == parts_.publishers.end()
                              ? make_outlet(to)
                              : std::move(outlets_[static_cast<std::size_t>(known - parts_.publishers.begin())]));
    }
    outlets_ = std::move(outlets);
    notices_.publish_to(publishers);
    parts_.publishers.swap(publishers);
    hear_of_room();
    parts_.waker.wake();  // those that are no more hold up nothing
}

void Pump::hear_of_room() {
    for (const FormatPublisher& to : parts_.publishers) {
        to.publisher.set_on_room([this] { parts_.waker.wake(); });
    }
}

bool Pump::must_wait() {
    bool waits = false;
    for (const FormatPublisher& to : parts_.publishers) {
        waits = to.publisher.must_wait() || waits;
    }
    return waits;
}

void Pump::start() {
    wake_.wait_readable();
}

void Pump::on_wake() {
    parts_.waker.clear();  // before looking, so that samples pushed from here on wake us again
    if (!is_wanted()) {
        parts_.waker.be_patient();
    } else if (parts_.waker.is_patient()) {
        parts_.waker.be_prompt();
    }
    wake_.wait_readable();
    pump_some();
}

void Pump::pump_some() {
    if (!paused_ && pump_turn(false)) {
        parts_.waker.wake();
    }
}

/// Whether somebody waits for samples.
bool Pump::is_wanted() const noexcept {
    return (parts_.streams != nullptr && parts_.streams->any()) ||
           std::any_of(parts_.publishers.begin(), parts_.publishers.end(),
                       [](const FormatPublisher& to) { return to.publisher.has_subscriptions(); });
}

void Pump::catch_up() {
    if (parts_.waker.is_patient()) {
        parts_.waker.be_prompt();
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
        held_up_ = !goes_on && must_wait();
        more = !held_up_ && pump_batch();
    }
    if (!more && !held_up_) {
        more = tell_losses();
    }
    flush();
    if (parts_.streams != nullptr && parts_.streams->any()) {
        parts_.streams->wake();
    }
    return more;
}

void Pump::flush() {
    for (AnyOutlet& outlet : outlets_) {
        std::visit([](auto& typed) { typed.flush(); }, outlet);
    }
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
    parts_.ledger.taken(taken_, taken_);  // what is taken is published, and counted before anything can fail
    publish(samples);
    return count == batch_.size();
}

/// Counts them, and keeps them: the last of each channel, and all in the history.
void Pump::note(std::span<const TelemetrySample> samples) {
    std::fill(taken_.begin(), taken_.end(), 0);
    holes_.clear();
    DeviceId device = of(samples.front().channel).device;
    std::size_t first = 0;  // of those of the device, which come together
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
    if (parts_.history != nullptr) {
        parts_.history->write(samples);
    }
}

void Pump::note_taken(DeviceId device, std::size_t samples) {
    if (to_index(device) >= taken_.size()) {
        taken_.resize(to_index(device) + 1);  // it has room
    }
    taken_[to_index(device)] += samples;
}

void Pump::note_hole(std::size_t before, const TelemetrySample& sample, ChannelProgress& progress) {
    TELEGATE_ASSERT(sample.seq > progress.reached());  // the queue keeps the order of a channel
    holes_.push_back({before, sample.channel, progress.reached() + 1, sample.seq - 1});
    progress.skip_to(sample.seq - 1);
}

void Pump::publish(std::span<const TelemetrySample> samples) {
    std::size_t published = 0;
    for (const Hole& hole : holes_) {
        publish_part(samples.subspan(published, hole.before - published));
        published = hole.before;
        tell_gap(hole.channel, hole.first_seq, hole.last_seq, DropReason::queue_overflow);
    }
    publish_part(samples.subspan(published));
}

void Pump::publish_part(std::span<const TelemetrySample> samples) {
    if (parts_.tap != nullptr) {
        parts_.tap->take(samples);
    }
    for (AnyOutlet& outlet : outlets_) {
        std::visit([samples](auto& typed) { typed.publish(samples); }, outlet);
    }
}

bool Pump::tell_losses() {
    // The queue is empty now: whatever was in it when these were noted has been published, so that what is left up to
    // their numbers has been lost.
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
        tell_gap(channel, reached(channel) + 1, last_seq, reason);
        parts_.ledger.progress(channel).skip_to(last_seq);
    }
}

void Pump::tell_gap(ChannelId channel, std::uint64_t first_seq, std::uint64_t last_seq, DropReason reason) {
    if (parts_.tap != nullptr) {
        parts_.tap->take_gap(channel, first_seq, last_seq, reason);
    }
    notices_.gap(channel, first_seq, last_seq, reason);
}

void Pump::discard_all(DropReason reason) {
    while (const std::size_t count = parts_.queue.pop(batch_)) {
        for (const TelemetrySample& sample : std::span(batch_).first(count)) {
            parts_.ledger.dropped_at_pump(sample, reason);
        }
    }
}

bool Pump::has_work() const noexcept {
    return !parts_.waker.is_patient() && !held_up_ && parts_.queue.size() > 0;
}

void Pump::append_payload(PayloadFormat format, const TelemetrySample& sample, std::string& out) {
    for (std::size_t i = 0; i < outlets_.size(); ++i) {
        if (parts_.publishers[i].format == format) {
            return std::visit([&](auto& outlet) { outlet.append(out, sample); }, outlets_[i]);
        }
    }
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
