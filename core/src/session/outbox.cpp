#include "session/outbox.hpp"

#include "core/assert.hpp"
#include "core/clock.hpp"
#include "core/limits.hpp"
#include "session/slow_reader.hpp"

#include <cstring>
#include <utility>

namespace telegate {

Outbox::Outbox(SegmentPool& pool) : log_(pool, SegmentLog::First::small), backlog_(limits::backlog_runs_max) {}

Outbox::~Outbox() = default;

void Outbox::set_slow(std::unique_ptr<SlowReader> slow) {
    settle();
    slow_ = std::move(slow);
}

std::size_t Outbox::bytes_max_or(std::size_t bytes_max) const noexcept {
    return slow_ == nullptr ? bytes_max : slow_->bytes_max();
}

std::uint64_t Outbox::dropped() const noexcept {
    std::uint64_t dropped = 0;
    for (const Losses& losses : losses_) {
        dropped += losses.count;
    }
    return dropped;
}

void Outbox::lose(LossReason reason, std::uint64_t messages) noexcept {
    if (messages == 0) {
        return;
    }
    Losses& losses = losses_[static_cast<std::size_t>(reason)];
    losses.last_utc_ns = SystemClock().utc_now_ns();
    losses.first_utc_ns = losses.count == 0 ? losses.last_utc_ns : losses.first_utc_ns;
    losses.count += messages;
}

void Outbox::add_lost(std::uint64_t messages) {
    if (slow_ != nullptr) {
        slow_->record_loss_behind();
    }
    matched_ += messages;
    lose(LossReason::slow, messages);
}

std::size_t Outbox::gather(std::span<StreamPart> out) const noexcept {
    if (slow_ == nullptr || !slow_->has_gap_ahead() || backlog().at_boundary()) {
        return backlog().gather(out);
    }
    return backlog_.gather_under_way(out);
}

void Outbox::write_notices_now() {
    settle();
    slow_->write_notices();
}

void Outbox::append_wire(Bytes wire) {
    TELEGATE_ASSERT(!wire.empty());
    settle();
    std::memcpy(log_.prepare(wire.size()), wire.data(), wire.size());
    add(log_.commit(wire.size()));
}

bool Outbox::has_room(std::size_t message_bytes, std::size_t bytes_max) noexcept {
    settle();
    const bool room = backlog_.empty() || (message_bytes <= bytes_max &&
                                           backlog_.bytes() <= bytes_max - message_bytes && backlog_.has_run());
    refused_ = refused_ || !room;
    return room;
}

std::uint64_t Outbox::consume(std::size_t bytes) {
    settle();
    const std::uint64_t completed = backlog_.consume(bytes);
    sent_ += completed;
    cuts_ = completed > 0 ? 0 : cuts_;
    release_if_empty();
    return completed;
}

void Outbox::drop_before(std::uint64_t log_position) {
    settle();
    lose(LossReason::slow, backlog_.drop_before(log_position));
    release_if_empty();
}

void Outbox::drop_all() noexcept {
    settle();
    lose(LossReason::disconnected, backlog_.drop_all());
    cuts_ = 0;
    release_if_empty();
}

void Outbox::restart_partial(bool was_cut) noexcept {
    settle();
    const std::uint64_t dropped = backlog_.restart();
    lose(LossReason::disconnected, dropped);
    cuts_ = dropped > 0 || backlog_.empty() ? 0 : cuts_ + (was_cut ? 1 : 0);
    if (cuts_ >= limits::cuts_per_message_max) {
        lose(LossReason::disconnected, backlog_.drop_first_message());
        cuts_ = 0;
    }
    release_if_empty();
}

void Outbox::release_if_empty() noexcept {
    if (backlog_.empty()) {
        log_.release();
    }
}

}  // namespace telegate
