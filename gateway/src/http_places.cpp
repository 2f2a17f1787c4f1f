#include "http_places.hpp"

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

HttpConnection* HttpPlaces::take(Id id, News& news) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) {
        return nullptr;  // closed at its deadline just now
    }
    Entry& entry = found->second;
    entry.news = {entry.news.ended || news.ended, entry.news.woken || news.woken};
    if (std::exchange(entry.busy, true)) {
        entry.again = true;
        return nullptr;
    }
    news = entry.news;
    entry.news.woken = false;
    return entry.connection.get();
}

bool HttpPlaces::give_back(Id id, bool close, News& news) {
    std::unique_ptr<HttpConnection> closed;  // after the lock is gone
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    Entry& entry = found->second;
    if (close) {
        closed = std::move(entry.connection);  // closing the descriptor takes it out of the epoll set
        entries_.erase(found);
        return false;
    }
    if (std::exchange(entry.again, false)) {
        news = entry.news;
        entry.news.woken = false;
        return true;
    }
    entry.busy = false;
    note_due(*entry.connection);
    return false;
}

std::vector<HttpPlaces::Id> HttpPlaces::sweep(MonoTime now) {
    std::vector<Id> speaking;
    if (now < next_due()) {
        return speaking;
    }
    const std::lock_guard lock(mutex_);
    next_due_ = MonoTime::max().time_since_epoch().count();
    for (auto entry = entries_.begin(); entry != entries_.end();) {
        const HttpConnection& connection = *entry->second.connection;
        if (entry->second.busy) {
            ++entry;  // whoever has it notes it again
        } else if (connection.deadline() <= now) {
            entry = entries_.erase(entry);
        } else {
            if (connection.speaks_at() <= now) {
                speaking.push_back(entry->first);
            } else {
                note_due(connection);
            }
            ++entry;
        }
    }
    return speaking;
}

std::vector<HttpPlaces::Id> HttpPlaces::streams() {
    const std::lock_guard lock(mutex_);
    std::vector<Id> ids;
    for (const auto& [id, entry] : entries_) {
        if (entry.busy || entry.connection->streaming()) {  // a busy one may be about to stream
            ids.push_back(id);
        }
    }
    return ids;
}

void HttpPlaces::clear(MonoTime now) {
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
    entries_.erase(least);
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
