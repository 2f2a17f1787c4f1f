#include "publish/deliveries.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace telegate {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t segments_least = 4;  // of a limit in bytes, which is counted in whole segments
constexpr milliseconds age_least{1};
constexpr milliseconds age_most = std::chrono::hours(24);
constexpr std::size_t bytes_most = std::size_t{1} << 30U;

std::shared_ptr<const DeliveryTerms> usual_terms(const PublisherOptions& options) {
    auto terms = std::make_shared<DeliveryTerms>();
    terms->delivery.backlog_bytes_max = options.backlog_bytes_max;
    return terms;
}

}  // namespace

void check(const Delivery& delivery) {
    if (delivery.backlog_bytes_max < 1 || delivery.backlog_bytes_max > bytes_most) {
        throw std::invalid_argument("invalid backlog_bytes_max " + std::to_string(delivery.backlog_bytes_max) +
                                    ": must be 1 to " + std::to_string(bytes_most));
    }
    const milliseconds age = delivery.backlog_age_max;
    if (age != milliseconds(0) && (age < age_least || age > age_most)) {
        throw std::invalid_argument("invalid backlog_age_max " + std::to_string(age.count()) + " ms: must be 0 ms or " +
                                    std::to_string(age_least.count()) + " ms to " + std::to_string(age_most.count()) +
                                    " ms");
    }
}

Deliveries::Deliveries(Reactor& reactor, PeerTable& peers, SharedLog& log, const PublisherOptions& options)
    : peers_(peers),
      log_(log),
      options_(options),
      usual_(usual_terms(options)),
      age_alarm_(reactor, [this] { expire_old(); }),
      later_room_(reactor, [this] { notify_room(); }) {}

std::size_t Deliveries::bytes_max_of(const Delivery& delivery) const noexcept {
    return std::max(delivery.backlog_bytes_max, segments_least * peers_.segments().segment_bytes());
}

void Deliveries::join(Session& session) {
    const auto known = session.initiator() ? terms_.end() : terms_.find(session.endpoint());
    if (known != terms_.end()) {
        set_terms(session, known->second);
    } else if (options_.loss_hooks.lost || options_.loss_hooks.write_notices) {
        set_terms(session, usual_);
    }
}

void Deliveries::leave(const Session& session) {
    if (std::erase(blocking_, &session) > 0) {
        check_room_soon();
    }
}

void Deliveries::set_terms(Session& session, const std::shared_ptr<const DeliveryTerms>& terms) {
    Outbox& outbox = *session.outbox();
    if (outbox.slow() == nullptr) {
        outbox.set_slow(std::make_unique<SlowReader>(outbox, session.id(), options_.loss_hooks));
    }
    outbox.slow()->set_terms(terms, bytes_max_of(terms->delivery));
    std::erase(blocking_, &session);
    if (terms->delivery.policy == SlowPolicy::block) {
        blocking_.push_back(&session);
    }
    check_room_soon();
    set_age_alarm();
}

void Deliveries::set(const std::string& endpoint, const Delivery& delivery) {
    std::shared_ptr<DeliveryTerms>& terms = terms_[endpoint];
    if (terms == nullptr) {
        terms = std::make_shared<DeliveryTerms>();
    }
    terms->delivery = delivery;
    aging_.erase(std::remove_if(aging_.begin(), aging_.end(),
                                [&](const auto& each) { return each.expired() || each.lock() == terms; }),
                 aging_.end());
    if (delivery.backlog_age_max > milliseconds(0)) {
        aging_.push_back(terms);
    }
    for (const auto& session : peers_.sessions()) {
        if (session->was_open() && !session->initiator() && session->endpoint() == endpoint) {
            set_terms(*session, terms);
        }
    }
    update_limits();
}

void Deliveries::forget(const std::string& endpoint) {
    terms_.erase(endpoint);
    update_limits();
}

/// Subscribers keep the terms of an endpoint that is no longer bound.
void Deliveries::update_limits() {
    std::size_t least = options_.backlog_bytes_max;
    std::size_t largest = options_.backlog_bytes_max;
    const auto include = [&](std::size_t bytes_max) {
        least = std::min(least, bytes_max);
        largest = std::max(largest, bytes_max);
    };
    for (const auto& [endpoint, terms] : terms_) {
        include(bytes_max_of(terms->delivery));
    }
    for (const auto& session : peers_.sessions()) {
        if (session->outbox()->slow() != nullptr) {
            include(session->outbox()->slow()->bytes_max());
        }
    }
    log_.set_limits(least, largest);
}

/// Publishing waits when less than two segments of a limit are left.
std::uint64_t Deliveries::end_after_batch() const noexcept {
    return log_.end() + 2 * peers_.segments().segment_bytes();
}

bool Deliveries::blocking(const Session& session) const noexcept {
    return session.state() == Session::State::open && session.outbox()->slow()->log_end_max() < end_after_batch();
}

BlockLimit Deliveries::block_limit() const noexcept {
    BlockLimit limit;
    for (const Session* const session : blocking_) {
        if (session->state() == Session::State::open) {
            limit.log_end_max = std::min(limit.log_end_max, session->outbox()->slow()->log_end_max());
            limit.bytes_max = std::min<std::uint64_t>(limit.bytes_max, session->outbox()->slow()->bytes_max());
        }
    }
    return limit;
}

std::vector<PeerStatus> Deliveries::statuses() const {
    std::vector<PeerStatus> all = peers_.statuses();
    for (PeerStatus& status : all) {
        status.blocking = std::any_of(blocking_.begin(), blocking_.end(), [&](const Session* session) {
            return session->id() == status.id && blocking(*session);
        });
    }
    return all;
}

bool Deliveries::must_wait() {
    bool waits = log_.others_must_wait(end_after_batch());
    for (Session* const session : blocking_) {
        if (blocking(*session)) {
            session->outbox()->record_refusal();  // so that the session reports when it has written
            waits = true;
        }
    }
    waits_ = waits_ || waits;
    return waits;
}

void Deliveries::notify_room() {
    if (waits_ && !must_wait()) {
        waits_ = false;
        if (on_room_) {
            on_room_();
        }
    }
}

bool Deliveries::send_to(Session* session, std::string_view topic, std::string_view payload,
                         const std::optional<SampleRange>& samples) {
    if (session == nullptr || session->state() != Session::State::open) {
        return false;
    }
    if (session->outbox()->slow() == nullptr) {
        set_terms(*session, usual_);
    }
    if (!session->outbox()->slow()->add(topic, payload, samples)) {
        return false;
    }
    log_.enforce_kept_limit();
    peers_.flush_soon(*session);
    return true;
}

/// Only while there is a subscriber whose messages can expire.
void Deliveries::set_age_alarm() {
    milliseconds least = milliseconds::max();
    for (const auto& session : peers_.sessions()) {
        const SlowReader* const slow = session->outbox()->slow();
        if (slow != nullptr && slow->terms().delivery.backlog_age_max > milliseconds(0)) {
            least = std::min(least, AgeMarks::step(slow->terms().delivery.backlog_age_max));
        }
    }
    if (!ages_ && least != milliseconds::max()) {
        ages_ = true;
        age_alarm_.set(least);
    }
}

void Deliveries::expire_old() {
    ages_ = false;
    set_age_alarm();  // first, so that a failure below does not end the checks
    const AgeMarks::Time now = std::chrono::steady_clock::now();
    const std::uint64_t position = log_.position();
    for (const auto& each : aging_) {
        if (const auto terms = each.lock()) {
            terms->marks.update(now, position, terms->delivery.backlog_age_max);
        }
    }
    for (const auto& session : peers_.sessions()) {
        SlowReader* const slow = session->outbox()->slow();
        if (slow != nullptr && slow->terms().delivery.backlog_age_max > milliseconds(0)) {
            slow->expire(now);
        }
    }
    check_room_soon();
}

}  // namespace telegate
