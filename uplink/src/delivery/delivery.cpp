#include "uplink/delivery.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <utility>

namespace telegate::uplink {

std::string_view to_string(DeliveryState state) noexcept {
    switch (state) {
        case DeliveryState::down: return "down";
        case DeliveryState::sending: return "sending";
        case DeliveryState::settling: return "settling";
        case DeliveryState::backing_off: return "backing_off";
    }
    return "";
}

DeliveryLedger& DeliveryLedger::operator+=(const DeliveryLedger& other) noexcept {
    read += other.read;
    acknowledged += other.acknowledged;
    in_flight += other.in_flight;
    quarantined += other.quarantined;
    gaps += other.gaps;
    omitted += other.omitted;
    returned += other.returned;
    return *this;
}

DeliveryCounts& DeliveryCounts::operator+=(const DeliveryCounts& other) noexcept {
    sent += other.sent;
    resent += other.resent;
    acknowledged += other.acknowledged;
    duplicates += other.duplicates;
    refused += other.refused;
    return *this;
}

Delivery::Delivery(const Options& options, store::Position settled)
    : options_(options), random_(options.seed), settled_(settled) {}

bool Delivery::has_capacity() const noexcept {
    return window_.empty() || (window_.size() < options_.messages_max && bytes_ < options_.bytes_max);
}

void Delivery::add(OutgoingMessage message) {
    const std::uint64_t samples = message.all_samples();
    const std::size_t bytes = message.bytes();
    const store::Position settles = message.is_last_part ? message.end_position : 0;
    window_.push_back({.message = std::move(message), .settles = settles});
    bytes_ += bytes;
    ledger_.read += samples;
    ledger_.in_flight += samples;
}

void Delivery::skip_to(store::Position position) noexcept {
    if (window_.empty()) {
        settled_ = std::max(settled_, position);
    } else {
        window_.back().settles = std::max(window_.back().settles, position);
    }
}

void Delivery::start(MonoTime now) noexcept {
    using Count = std::chrono::milliseconds::rep;
    retry_at_ =
        now + std::chrono::milliseconds(std::uniform_int_distribution<Count>(0, options_.start_max.count())(random_));
}

bool Delivery::may_connect(MonoTime now) const noexcept {
    return state_ == DeliveryState::down && now >= retry_at_;
}

void Delivery::connected() noexcept {
    state_ = DeliveryState::sending;
}

void Delivery::disconnected(MonoTime now, bool is_refused) noexcept {
    go_back();
    back_off(now, is_refused ? options_.refused_max : options_.retry_max);
    state_ = DeliveryState::down;
}

bool Delivery::may_send(MonoTime now) noexcept {
    if (state_ == DeliveryState::backing_off && now >= retry_at_) {
        state_ = DeliveryState::sending;
    }
    return state_ == DeliveryState::sending;
}

const OutgoingMessage* Delivery::next(MonoTime now) noexcept {
    if (!may_send(now)) {
        return nullptr;
    }
    while (next_ < window_.size() && window_[next_].status != Status::waiting) {
        ++next_;
    }
    return next_ < window_.size() ? &window_[next_].message : nullptr;
}

std::uint64_t Delivery::sent(MonoTime now, std::uint64_t transmission, bool is_new) noexcept {
    TELEGATE_ASSERT(state_ == DeliveryState::sending && next_ < window_.size());
    Entry& entry = window_[next_];
    TELEGATE_ASSERT(entry.status == Status::waiting);
    entry.status = Status::in_flight;
    entry.sent_at = now;
    if (!entry.was_sent) {
        entry.transmissions = {transmission, transmission, is_new};
    }
    entry.transmissions.last = transmission;
    ++in_flight_;
    ++counts_.sent;
    counts_.resent += std::uint64_t{std::exchange(entry.was_sent, true)};
    return first_number_ + next_++;
}

Delivery::Entry* Delivery::find(std::uint64_t number) noexcept {
    if (number < first_number_ || number - first_number_ >= window_.size()) {
        return nullptr;
    }
    Entry& entry = window_[static_cast<std::size_t>(number - first_number_)];
    return entry.status == Status::in_flight ? &entry : nullptr;
}

std::optional<Delivery::InFlight> Delivery::in_flight(std::uint64_t number) noexcept {
    const Entry* const entry = find(number);
    if (entry == nullptr) {
        return std::nullopt;
    }
    return InFlight{entry->message.quarantine_id, entry->sent_at, entry->transmissions};
}

void Delivery::acknowledged(std::uint64_t number, bool is_duplicate) noexcept {
    Entry* const entry = find(number);
    if (entry == nullptr) {
        return;
    }
    entry->status = Status::acknowledged;
    --in_flight_;
    ++counts_.acknowledged;
    counts_.duplicates += std::uint64_t{is_duplicate};
    settle();
    if (state_ == DeliveryState::settling && in_flight_ == 0) {
        state_ = DeliveryState::backing_off;
    }
    record_success();
}

void Delivery::record_success() noexcept {
    if (state_ == DeliveryState::sending) {
        retry_ = std::chrono::milliseconds(0);
    }
}

void Delivery::refused(std::uint64_t number, Refusal refusal, const RefusedAt& at) noexcept {
    Entry* const entry = find(number);
    if (entry == nullptr) {
        return;
    }
    entry->status = Status::waiting;
    switch (refusal) {
        case Refusal::transient: break;
        case Refusal::permanent: ++entry->refusals; break;
        case Refusal::too_large: entry->refusals = options_.refusals_max; break;
    }
    --in_flight_;
    ++counts_.refused;
    next_ = 0;
    if (state_ == DeliveryState::sending) {
        state_ = DeliveryState::settling;
        back_off(at.now, options_.retry_max);
    }
    not_before_ = std::max(not_before_, at.now + std::min(at.retry_after, options_.retry_after_max));
    retry_at_ = std::max(retry_at_, not_before_);
    if (in_flight_ == 0) {
        state_ = DeliveryState::backing_off;
    }
}

bool Delivery::is_rejected(const Entry& entry) const noexcept {
    const bool is_known_bad = entry.message.is_divided || entry.message.quarantine_id != 0;
    return entry.status == Status::waiting && entry.refusals >= (is_known_bad ? 1 : options_.refusals_max);
}

std::vector<const OutgoingMessage*> Delivery::rejected() const {
    std::vector<const OutgoingMessage*> messages;
    for (const Entry& entry : window_) {
        if (in_flight_ == 0 && is_rejected(entry)) {
            messages.push_back(&entry.message);
        }
    }
    return messages;
}

bool Delivery::has_quarantined() const noexcept {
    return std::any_of(window_.begin(), window_.end(),
                       [](const Entry& entry) { return entry.message.quarantine_id != 0; });
}

/// Counts the messages of a block that is delivered.
void Delivery::count_partial() noexcept {
    ledger_.acknowledged += partial_.acknowledged;
    ledger_.quarantined += partial_.quarantined;
    ledger_.gaps += partial_.gaps;
    ledger_.omitted += partial_.omitted;
    ledger_.in_flight -= partial_.in_flight;
    partial_ = {};
}

void Delivery::return_all() noexcept {
    ledger_.in_flight -= partial_.in_flight;
    ledger_.returned += partial_.in_flight;
    partial_ = {};
    for (const Entry& entry : window_) {
        ledger_.in_flight -= entry.message.all_samples();
        ledger_.returned += entry.message.all_samples();
    }
    first_number_ += window_.size();  // responses to messages in flight have no effect
    window_.clear();
    next_ = 0;
    in_flight_ = 0;
    bytes_ = 0;
    if (state_ == DeliveryState::settling) {
        state_ = DeliveryState::backing_off;
    }
}

void Delivery::retry_now() noexcept {
    retry_ = std::chrono::milliseconds(0);
    if (state_ == DeliveryState::backing_off) {
        state_ = DeliveryState::sending;
    }
}

void Delivery::move_to(store::Position position) noexcept {
    return_all();
    settled_ = position;
}

/// Makes all messages in flight wait again.
void Delivery::go_back() noexcept {
    for (Entry& entry : window_) {
        if (entry.status == Status::in_flight) {
            entry.status = Status::waiting;
        }
    }
    in_flight_ = 0;
    next_ = 0;
}

void Delivery::back_off(MonoTime now, std::chrono::milliseconds longest) noexcept {
    retry_ = retry_.count() == 0 ? options_.retry_min : std::min(retry_ * 2, longest);
    // Between half of the delay and all of it, so that many gateways do not return at the same time.
    const auto half = retry_.count() / 2;
    retry_at_ = now + std::chrono::milliseconds(
                          half + std::uniform_int_distribution<std::chrono::milliseconds::rep>(0, half)(random_));
    retry_at_ = std::max(retry_at_, not_before_);
}

/// Removes what is acknowledged from the front of the window.
void Delivery::settle() noexcept {
    while (!window_.empty() && window_.front().status == Status::acknowledged) {
        const OutgoingMessage& message = window_.front().message;
        partial_.acknowledged += message.samples;
        partial_.quarantined += message.refused;
        partial_.gaps += message.missing;
        partial_.omitted += message.omitted;
        partial_.in_flight += message.all_samples();
        if (window_.front().settles > 0 || message.quarantine_id != 0) {
            settled_ = std::max(settled_, window_.front().settles);
            count_partial();
        }
        delivered_utc_ns_ = std::max(delivered_utc_ns_, message.utc_max_ns);
        bytes_ -= message.bytes();
        window_.pop_front();
        ++first_number_;
        next_ -= std::min<std::size_t>(next_, 1);
    }
}

MonoTime Delivery::deadline(const Entry& entry) const noexcept {
    const MonoTime begin = options_.responds_in_order ? std::max(entry.sent_at, last_response_) : entry.sent_at;
    return begin + options_.acknowledge_max;
}

bool Delivery::is_overdue(MonoTime now) const noexcept {
    return std::any_of(window_.begin(), window_.end(),
                       [&](const Entry& entry) { return entry.status == Status::in_flight && now >= deadline(entry); });
}

MonoTime Delivery::due() const noexcept {
    if (state_ == DeliveryState::down || state_ == DeliveryState::backing_off) {
        return retry_at_;
    }
    MonoTime due = MonoTime::max();
    for (const Entry& entry : window_) {
        if (entry.status == Status::in_flight) {
            due = std::min(due, deadline(entry));
        }
    }
    return due;
}

}  // namespace telegate::uplink
