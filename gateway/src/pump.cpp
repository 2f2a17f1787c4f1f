#include "pump.hpp"

#include "core/assert.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <algorithm>
#include <utility>

namespace telegate {

namespace net = boost::asio;

/// The waker's descriptor as the event loop sees it. It belongs to the waker.
struct Pump::Wait {
    using Descriptor = net::posix::basic_stream_descriptor<net::io_context::executor_type>;

    Wait(net::io_context& context, int waker) : descriptor(context, waker) {}
    ~Wait() { descriptor.release(); }

    Descriptor descriptor;
};

Pump::Pump(PumpParts parts, std::int64_t epoch_ms)
    : parts_(std::move(parts)),
      epoch_ms_(epoch_ms),
      wait_(std::make_unique<Wait>(parts_.reactor.context(), parts_.waker.descriptor())),
      batch_(batch_samples),
      channels_(parts_.channels) {
    for (const FormatPublisher& to : parts_.publishers) {
        outlets_.push_back(make_outlet(to));
    }
}

Pump::~Pump() = default;

Pump::AnyOutlet Pump::make_outlet(const FormatPublisher& to) const {
    switch (to.format) {
        case PayloadFormat::json: break;
        case PayloadFormat::cbor: return Outlet<CborEncoder>(to.publisher, parts_.channels, epoch_ms_);
        case PayloadFormat::record: return Outlet<RecordEncoder>(to.publisher, parts_.channels, epoch_ms_);
    }
    return Outlet<JsonEncoder>(to.publisher, parts_.channels, epoch_ms_);
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
    parts_.publishers.swap(publishers);
}

void Pump::start() {
    wait();
}

void Pump::wait() {
    wait_->descriptor.async_wait(Wait::Descriptor::wait_read, [this](const boost::system::error_code& error) {
        if (!error) {
            on_wake();
        }
    });
}

void Pump::on_wake() {
    parts_.waker.clear();  // before looking, so that samples pushed from here on wake us again
    if (!is_wanted()) {
        parts_.waker.be_patient();
    } else if (parts_.waker.is_patient()) {
        parts_.waker.be_prompt();
    }
    if (!paused_ && pump_turn()) {
        parts_.waker.wake();
    }
    wait();
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
        if (!paused_) {
            drain_all();
        }
    }
}

void Pump::resume() {
    paused_ = false;
    parts_.waker.wake();
}

void Pump::drain_all() {
    while (pump_turn()) {
    }
}

bool Pump::pump_turn() {
    std::size_t batches = 0;
    bool more = true;
    while (more && batches++ < batches_per_turn) {
        more = pump_batch();
    }
    for (AnyOutlet& outlet : outlets_) {
        std::visit([](auto& typed) { typed.flush(); }, outlet);
    }
    if (parts_.streams != nullptr && parts_.streams->any()) {
        parts_.streams->wake();
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
    for (AnyOutlet& outlet : outlets_) {
        std::visit([samples](auto& typed) { typed.publish(samples); }, outlet);
    }
    parts_.ledger.taken(taken_, taken_);  // what is taken is published
    return count == batch_.size();
}

/// Counts them, and keeps them: the last of each channel, and all in the history.
void Pump::note(std::span<const TelemetrySample> samples) {
    std::fill(taken_.begin(), taken_.end(), 0);
    const auto make = [this](const ChannelInfo& info) {
        taken_.resize(std::max<std::size_t>(taken_.size(), to_index(info.device_id) + 1));
        return Channel{info.device_id, {}};
    };
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const TelemetrySample& sample = samples[i];
        Channel& channel = channels_.of(sample.channel, make);
        ++taken_[to_index(channel.device)];
        if (i + 1 == samples.size() || samples[i + 1].channel != sample.channel) {
            channel.last = sample;
        }
    }
    if (parts_.history != nullptr) {
        parts_.history->write(samples);
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
    return !parts_.waker.is_patient() && parts_.queue.size() > 0;
}

const TelemetrySample* Pump::last(ChannelId channel) const noexcept {
    const Channel* const known = channels_.find(channel);
    const bool is_there = known != nullptr && known->last.seq > 0 && parts_.channels.is_current(channel);
    return is_there ? &known->last : nullptr;
}

}  // namespace telegate
