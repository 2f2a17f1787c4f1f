#include "http/http_places.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

void HttpPlaces::add(std::unique_ptr<HttpConnection> connection, MonoTime now, const Watch& watch) {
    const std::lock_guard lock(mutex_);
    const std::size_t streams = std::min(budget_.streams(), entries_.size());
    if (entries_.size() - streams >= budget_.limits.connections_max && !close_least_claim(now)) {
        return;
    }
    const Id id = id_next_++;
    const HttpConnection& added = *entries_.emplace(id, Entry{std::move(connection)}).first->second.connection;
    note_due(added);
    watch(added.descriptor(), id);
}

HttpPlaces::Work HttpPlaces::take(Id id, News news) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) {
        return {};  // closed at its deadline just now
    }
    Entry& entry = found->second;
    entry.news = {entry.news.ended || news.ended, entry.news.woken || news.woken};
    if (entry.busy) {
        entry.again = true;
        return {};
    }
    return start(*found);
}

HttpPlaces::Work HttpPlaces::give_back(const Work& work, HttpConnection::Wants wants) noexcept {
    std::unique_ptr<HttpConnection> closed;  // after the lock is gone
    const std::lock_guard lock(mutex_);
    answering_ -= work.may_answer ? 1U : 0U;
    const auto found = entries_.find(work.id);
    Entry& entry = found->second;
    entry.busy = false;
    if (wants == HttpConnection::Wants::close) {
        closed = std::move(entry.connection);  // closing the descriptor takes it out of the epoll set
        (void)erase(found);
        return next_queued();
    }
    if (const bool queues = wants == HttpConnection::Wants::turn; queues != (entry.queued != 0)) {
        entry.queued = queues ? ++queued_ever_ : 0;
        queue_size_ = queues ? queue_size_ + 1 : queue_size_ - 1;
    }
    if (std::exchange(entry.again, false)) {
        return start(*found);
    }
    note_due(*entry.connection);
    return next_queued();
}

// With mutex_ held.
HttpPlaces::Work HttpPlaces::start(Entries::value_type& entry) noexcept {
    entry.second.busy = true;
    const bool may_answer = answering_ < answering_max_;
    answering_ += may_answer ? 1U : 0U;
    const News news = std::exchange(entry.second.news, {.ended = entry.second.news.ended});
    return {entry.second.connection.get(), entry.first, news, may_answer};
}

// With mutex_ held.
HttpPlaces::Entries::iterator HttpPlaces::erase(Entries::iterator entry) noexcept {
    queue_size_ -= entry->second.queued != 0 ? 1U : 0U;
    return entries_.erase(entry);
}

// With mutex_ held. The request that has waited for longest, if a worker may answer it now.
HttpPlaces::Work HttpPlaces::next_queued() noexcept {
    if (queue_size_ == 0 || answering_ == answering_max_) {
        return {};
    }
    Entries::value_type* first = nullptr;
    for (auto& entry : entries_) {
        const bool waits = !entry.second.busy && entry.second.queued != 0;
        first = waits && (first == nullptr || entry.second.queued < first->second.queued) ? &entry : first;
    }
    return first == nullptr ? Work{} : start(*first);
}

void HttpPlaces::sweep(MonoTime now, std::vector<Id>& ids) noexcept {
    ids.clear();
    if (now < next_due()) {
        return;
    }
    const std::lock_guard lock(mutex_);
    next_due_ = MonoTime::max().time_since_epoch().count();
    for (auto entry = entries_.begin(); entry != entries_.end();) {
        const HttpConnection& connection = *entry->second.connection;
        if (entry->second.busy) {
            ++entry;  // whoever has it notes it again
        } else if (connection.deadline() <= now) {
            entry = erase(entry);
        } else {
            if (connection.speaks_at() <= now && ids.size() < ids.capacity()) {
                ids.push_back(entry->first);
            } else {
                note_due(connection);
            }
            ++entry;
        }
    }
}

void HttpPlaces::find_streams(std::vector<Id>& ids) noexcept {
    ids.clear();
    const std::lock_guard lock(mutex_);
    for (const auto& [id, entry] : entries_) {
        const bool streams = entry.busy || entry.connection->streaming();  // a busy one may be about to stream
        if (streams && ids.size() < ids.capacity()) {
            ids.push_back(id);
        }
    }
}

void HttpPlaces::clear(MonoTime now) noexcept {
    const std::lock_guard lock(mutex_);
    for (auto& [id, entry] : entries_) {
        entry.connection->end_stream(now);
    }
    entries_.clear();
}

// With mutex_ held. Whether there was one to close. Streams have places of their own.
bool HttpPlaces::close_least_claim(MonoTime now) {
    auto least = entries_.end();
    HttpClaim least_claim;
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
        if (entry->second.busy || entry->second.connection->streaming()) {
            continue;
        }
        const HttpClaim claim = entry->second.connection->claim(now);
        if (least == entries_.end() || claim < least_claim) {
            least = entry;
            least_claim = claim;
        }
    }
    if (least == entries_.end()) {
        return false;
    }
    (void)erase(least);
    return true;
}

// With mutex_ held.
void HttpPlaces::note_due(const HttpConnection& connection) noexcept {
    const MonoTime due = std::min(connection.deadline(), connection.speaks_at());
    if (due < next_due()) {
        next_due_ = due.time_since_epoch().count();
    }
}

}  // namespace telegate
