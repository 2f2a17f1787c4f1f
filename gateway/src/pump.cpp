#include "pump.hpp"

#include "core/assert.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <algorithm>
#include <span>

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
    : parts_(parts),
      encoder_(parts.channels, epoch_ms),
      wait_(std::make_unique<Wait>(parts.reactor.context(), parts.waker.descriptor())),
      batch_(batch_samples),
      taken_(parts.ledger.devices()),
      published_(parts.ledger.devices()) {}

Pump::~Pump() = default;

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
    for (std::size_t batch = 0; !paused_ && pump_batch(); ++batch) {
        if (batch + 1 == batches_per_turn) {
            parts_.waker.wake();
            break;
        }
    }
    wait();
}

void Pump::resume() {
    paused_ = false;
    parts_.waker.wake();
}

void Pump::drain_all() {
    while (pump_batch()) {
    }
}

bool Pump::pump_batch() {
    TELEGATE_ASSERT(parts_.reactor.is_current());
    const std::size_t count = parts_.queue.pop(batch_);
    if (count == 0) {
        return false;
    }
    std::fill(taken_.begin(), taken_.end(), 0);
    std::fill(published_.begin(), published_.end(), 0);
    for (const TelemetrySample& sample : std::span(batch_).first(count)) {
        publish(sample);
    }
    parts_.ledger.taken(taken_, published_);
    parts_.publisher.flush();
    return count == batch_.size();
}

void Pump::publish(const TelemetrySample& sample) {
    Channel& channel = channel_of(sample.channel);
    ++taken_[to_index(channel.device)];
    if (parts_.publisher.wanted(channel.topic)) {
        char* room = parts_.publisher.prepare(channel.topic, encoder_.bytes_max(sample));
        parts_.publisher.commit(encoder_.encode(sample, room));
    } else {
        parts_.publisher.skip();
    }
    channel.last = sample;
    ++published_[to_index(channel.device)];
}

Pump::Channel& Pump::channel_of(ChannelId id) {
    // Ids are handed out in order, so a new one means that all up to the table's size may be new.
    while (channels_.size() <= to_index(id)) {
        const ChannelInfo& info = parts_.channels.at(static_cast<ChannelId>(channels_.size()));
        channels_.push_back({parts_.publisher.intern(info.topic), info.device_id, {}});
    }
    return channels_[to_index(id)];
}

void Pump::discard_all(DropReason reason) {
    while (const std::size_t count = parts_.queue.pop(batch_)) {
        for (const TelemetrySample& sample : std::span(batch_).first(count)) {
            parts_.ledger.dropped_at_pump(sample, reason);
        }
    }
}

const TelemetrySample* Pump::last(ChannelId channel) const noexcept {
    const std::size_t index = to_index(channel);
    return index < channels_.size() && channels_[index].last.seq > 0 ? &channels_[index].last : nullptr;
}

}  // namespace telegate
