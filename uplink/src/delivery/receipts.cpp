#include "uplink/receipts.hpp"

#include <algorithm>

namespace telegate::uplink {

void Receipts::restore(MonoTime now, store::Position resend_from, Place last_place) {
    receipts_.emplace_back(now, resend_from);
    last_place_ = first_place_ = last_place;
}

/// The last receipt is replaced until it is old enough, so that there is always one for the last position.
void Receipts::record_delivered(MonoTime now, store::Position position) {
    const std::size_t count = receipts_.size();
    if (count > 1 && receipts_[count - 1].first - receipts_[count - 2].first < grace_ / intervals) {
        receipts_.pop_back();
    }
    receipts_.emplace_back(now, position);
}

void Receipts::expire(MonoTime now) noexcept {
    while (!receipts_.empty() && now - receipts_.front().first >= grace_) {
        keep_from_ = receipts_.front().second;
        receipts_.pop_front();
    }
}

store::Position Receipts::resend_from() const noexcept {
    return keep_from_ == 0 && !receipts_.empty() ? receipts_.front().second : keep_from_;
}

void Receipts::rewind(MonoTime now, store::Position position) {
    has_loss_ = false;
    std::erase_if(receipts_, [&](const auto& each) { return each.second > position; });
    keep_from_ = std::min(keep_from_, position);
    if (receipts_.empty()) {
        receipts_.emplace_back(now, position);
    }
}

void Receipts::record_stored(const Transmissions& sent, Place place, bool is_duplicate) {
    Stored stored{sent.last, sent.last, place};
    if (is_duplicate) {
        stored.first = sent.is_complete ? sent.first : 0;
    }
    if (contradicts(stored)) {
        return record_lost(place);
    }
    last_place_ = std::max(last_place_, place);
    last_sent_ = std::max(last_sent_, stored.last);
    stored_.push_back(stored);
    if (stored_.size() > places_max) {
        first_place_ = std::max(first_place_, stored_.front().place);
        stored_.pop_front();
    }
}

/// Whether a message was stored where another one was before. A back end stores the messages of a connection in their
/// order, although its responses may overtake each other.
bool Receipts::contradicts(const Stored& stored) const noexcept {
    const bool is_recent = stored.first > 0;
    if (is_recent && stored.first > last_sent_ && stored.place > last_place_) {
        return false;
    }
    return (is_recent && stored.place <= first_place_) ||
           std::any_of(stored_.begin(), stored_.end(), [&](const Stored& each) {
               return (each.last < stored.first && each.place >= stored.place) ||
                      (stored.last < each.first && each.place <= stored.place);
           });
}

void Receipts::compare(Place last, Place known) noexcept {
    if (last < known) {
        record_lost(last);
    }
}

void Receipts::record_lost(Place last) noexcept {
    has_loss_ = true;
    stored_.clear();
    last_place_ = first_place_ = last;
}

}  // namespace telegate::uplink
