#include "shards/shard.hpp"

#include "core/start_thread.hpp"
#include "publish/free_capacity.hpp"
#include "reactor/rethrow_later.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace telegate {
namespace {

/// The progress of the sessions is read again when this fraction of the backlog was published.
constexpr std::uint64_t progress_reads_per_backlog = 8;

constexpr std::chrono::milliseconds retry_time{10};

/// Releases a lease when it is no longer used.
/// Threads: the shard's. Limits: one lease. Failure: none.
struct Borrowed {
    explicit Borrowed(ShardLink& link_in) noexcept : link(link_in) {}
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() {
        if (lease != nullptr) {
            link.release(lease);
        }
    }

    ShardLink& link;
    SegmentLease* lease = nullptr;
};

}  // namespace

Shard::Shard(const PublisherOptions& options, std::size_t number, ShardLink& link, ShardCalls calls)
    : options_(options),
      link_(link),
      calls_(std::move(calls)),
      notes_(calls_.deliver),
      reader_([this](const Session& session, const zmtp::Subscription& change) {
          const bool is_new = change.kind == zmtp::Subscription::Kind::subscribe;
          notes_.add({is_new ? ShardNote::Kind::subscribed : ShardNote::Kind::canceled, session.id(),
                      std::string(as_text(change.prefix)), nullptr});
      }),
      peers_(reactor_, options_, {zmtp::SocketType::pub, subscriber_receive_buffer_bytes}, events()),
      lag_limit_(reactor_, peers_, LagLimit::shard_limits_of(options_)),
      deliveries_(reactor_, peers_, *this, options_),
      wake_watch_(
          reactor_, link_.waker().descriptor(),
          [this] {
              link_.waker().clear();
              wake_watch_.wait_readable();
              on_wake();
          },
          [] {}),
      later_on_wake_(reactor_, [this] { on_wake(); }) {
    wake_watch_.wait_readable();
    thread_ = start_thread("tg-io-" + std::to_string(number), [this] { run(); });
}

Shard::~Shard() {
    stopping_.store(true);
    reactor_.stop();
    thread_.join();
    release_segment();
}

void Shard::run() {
    while (!stopping_.load()) {
        try {
            turn();
        } catch (...) {
            failure_ = failure_ != nullptr ? failure_ : std::current_exception();
        }
    }
}

/// After a failure, waits only briefly, so that work that failed is retried.
void Shard::turn() {
    if (failure_ == nullptr) {
        reactor_.run_until(std::chrono::steady_clock::time_point::max());
        return finish_turn();
    }
    reactor_.run_for(retry_time);
    on_wake();  // the handler that failed may have been about to wait for a record
    finish_turn();
    calls_.pass_on(failure_);
    failure_ = nullptr;
}

void Shard::post(std::function<void(Shard&)> call) {
    reactor_.post([this, call = std::move(call)] { call(*this); });
}

SessionEvents Shard::events() {
    SessionEvents events;
    events.opened = [this](Session& session) {
        opened(session);
    };
    events.readable = [this](Session& session) {
        read(session);
    };
    events.command = [this](Session& session, const zmtp::Command& command) {
        reader_.command(session, command);
    };
    events.ended = [this](Session& session, std::string_view) {
        ended(session.id());
        deliveries_.leave(session);
        are_terms_new_ = true;
    };
    return events;
}

void Shard::adopt(Handover handover, ShardNotes::Batch end) {
    const std::uint64_t id = handover.id;
    places_.resize(std::max<std::size_t>(places_.size(), handover.place + 1));
    kept_[id].place = handover.place;
    kept_[id].end = std::move(end);
    places_[handover.place] = {id, nullptr};
    rethrow_later(reactor_, [&] { peers_.adopt(std::move(handover)); });
    if (peers_.find(id) == nullptr) {
        ended(id);
    }
}

void Shard::opened(Session& session) {
    deliveries_.join(session);
    are_terms_new_ = true;
    places_[kept_.at(session.id()).place].session = &session;
    notes_.add({ShardNote::Kind::opened, session.id(), {}, nullptr});
}

void Shard::ended(std::uint64_t id) noexcept {
    const auto found = kept_.find(id);
    if (found == kept_.end()) {
        return;  // already reported
    }
    Place& place = places_[found->second.place];
    if (place.id == id) {  // otherwise the place has a new session
        place = {};
    }
    notes_.add(std::move(found->second.end));
    kept_.erase(found);
}

void Shard::read(Session& session) {
    if (notes_.is_full()) {
        peers_.set_held(true);
        unread_.push_back(session.id());
    } else {
        reader_.read(session);
    }
}

void Shard::read_unread() {
    peers_.set_held(notes_.is_full());
    for (std::size_t left = unread_.size(); left > 0; --left) {
        const auto found = kept_.find(unread_.front());
        unread_.pop_front();
        if (found == kept_.end()) {
            continue;
        }
        Session& session = *places_[found->second.place].session;
        read(session);
    }
}

void Shard::set_monitored(bool monitored) {
    if (!monitored) {
        return peers_.set_monitor({});
    }
    peers_.set_monitor([this](const MonitorEvent& event) {
        notes_.add({ShardNote::Kind::event, event.peer_id, {}, std::make_unique<KeptEvent>(event)});
    });
}

void Shard::set_delivery(const std::string& endpoint, const Delivery& delivery) {
    catch_up();  // under the previous terms
    deliveries_.set(endpoint, delivery);
    are_terms_new_ = true;
}

void Shard::forget_delivery(const std::string& endpoint) {
    deliveries_.forget(endpoint);
    are_terms_new_ = true;
}

/// The smallest limit matters to the publisher alone.
void Shard::set_limits(std::size_t /*least*/, std::size_t largest) noexcept {
    lag_limit_.set_largest(largest);
}

Session* Shard::session_of(const ShardReader& reader) const noexcept {
    const Place& place = places_[reader.place];
    return place.id == reader.id ? place.session : nullptr;
}

void Shard::on_wake() {
    const bool is_more = apply_some();
    peers_.flush();
    if (is_more || !link_.await_record()) {
        later_on_wake_.schedule();
    }
}

void Shard::catch_up() {
    while (apply_some()) {
        peers_.flush();
    }
    report();
}

/// Applies at most half the backlog, so that new data does not displace data that could have been written. Returns true
/// if there is more.
bool Shard::apply_some() {
    const std::uint64_t log_end_max = log_end_ + options_.backlog_bytes_max / 2;
    for (std::size_t count = 0; count < limits::link_records_max; ++count) {
        const LinkRecord* const front = link_.front();
        if (front == nullptr) {
            return false;
        }
        if (count > 0 && front->log_end > log_end_max) {
            return true;
        }
        const LinkRecord record = *front;
        link_.pop();
        rethrow_later(reactor_, [&] { apply(record); });
    }
    return true;
}

void Shard::apply(const LinkRecord& record) {
    const std::unique_ptr<LinkNote> note(record.note);
    if (record.lease == nullptr) {
        release_segment();
    } else if (record.lease != lease_) {
        borrow(*record.lease);
    }
    if (log_end_ != record.log_end) {
        log_end_ = record.log_end;
        lag_limit_.enforce(log_end_);
    }
    if (note != nullptr) {
        return apply(*note);
    }
    if (segment_.get() == nullptr) {
        return;
    }
    segment_->limit = record.limit;
    position_ = segment_->start + record.end;
    oldest_ = std::min(oldest_, segment_->start + record.begin);
    const Slice range{segment_.get(), record.begin, record.end};
    for (const ShardReader& reader : record.readers->list) {
        if (Session* const session = session_of(reader)) {
            session->outbox()->add(range);
            session->outbox()->extend({range.segment, range.end, range.end}, record.messages - 1);
            peers_.mark(*session);
        }
    }
}

void Shard::apply(const LinkNote& note) {
    if (const auto* const message = std::get_if<ShardMessage>(&note)) {
        Session* const session = session_of(message->reader);
        const bool is_open = session != nullptr && session->state() == Session::State::open;
        const auto& samples = message->samples;
        if (is_open && !deliveries_.send_to(session, message->topic, message->payload, samples) && samples &&
            options_.loss_hooks.refused) {
            options_.loss_hooks.refused(session->id(), *samples);
        }
        return;
    }
    for (const auto& [reader, messages] : std::get<ShardLosses>(note)) {
        if (Session* const session = session_of(reader)) {
            session->outbox()->add_lost(messages);
            peers_.mark(*session);
        }
    }
}

/// Reads the segment in place; it is released when the last session here has finished reading.
void Shard::borrow(SegmentLease& lease) {
    release_segment();
    lease_ = &lease;
    const auto owner = std::make_shared<Borrowed>(link_);
    segment_ = peers_.segments().borrow({owner, lease.bytes}, lease.start, lease.capacity);
    owner->lease = &lease;
}

/// Releases the segment: no more records refer to it.
void Shard::release_segment() noexcept {
    segment_.reset();
    lease_ = nullptr;
}

void Shard::refresh_progress() noexcept {
    const ReadProgress progress = progress_of(peers_);
    oldest_ = progress.oldest;
    records_max_ = link_.taken() + progress.runs_left;
    progress_read_at_ = log_end_;
}

void Shard::finish_turn() {
    if (!unread_.empty() && !notes_.is_full()) {
        read_unread();
    }
    report();
    notes_.send();  // last, so that the publisher knows the limits of the subscribers that it learns of
}

/// Reports the progress of the sessions to the publisher if there is any.
void Shard::report() {
    const bool is_awaited = link_.is_room_awaited();
    if (is_awaited || log_end_ >= progress_read_at_ + options_.backlog_bytes_max / progress_reads_per_backlog) {
        refresh_progress();
    }
    const bool is_limit_awaited = link_.is_block_limit_awaited();
    const bool is_anything_new = !link_.is_all_reported() || std::exchange(are_terms_new_, false);
    if (is_awaited || is_limit_awaited || is_anything_new) {
        owes_wake_ = link_.report(oldest_, records_max_, deliveries_.block_limit()) || owes_wake_;
    }
    if (owes_wake_) {
        calls_.wake();
        owes_wake_ = false;
    }
}

}  // namespace telegate
