#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {

/// Returns the client that a peer counts as wherever clients share something: its IPv4 address, or the /64 network of
/// its IPv6 address, because a host can choose the rest. An IPv4 address in IPv6 form is the same client. Other texts,
/// such as "uid=1000" for a Unix socket, are unchanged. Threads: any.
[[nodiscard]] std::string client_of(std::string_view address);

/// Counts the places that each client holds, and finds the client that gives one up when all are taken: clients may
/// take free places without a limit, but the one with the most yields to those with fewer.
///
/// Threads: one at a time. Limits: one entry per client with a place. Failure: add() may throw std::bad_alloc.
class ClientShares {
  public:
    struct Holder {
        std::string_view client;  // valid until its last place is free
        std::size_t places = 0;
    };

    void add(std::string_view client);
    /// Does nothing if the client has no place.
    void remove(std::string_view client) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return places_; }
    [[nodiscard]] std::size_t of(std::string_view client) const noexcept;
    /// Returns the client with the most places; 0 places: there is none.
    [[nodiscard]] Holder most() const noexcept;
    /// Returns whether the client with the most places has to give one up in favor of `client`: it would still have at
    /// least as many.
    [[nodiscard]] bool yields_to(std::string_view client) const noexcept { return most().places > of(client) + 1; }

  private:
    std::map<std::string, std::size_t, std::less<>> places_of_;
    std::size_t places_ = 0;
};

/// A queue in which clients take turns, so that one with many entries delays the others by one entry each. Among the
/// entries of a client, the oldest or the newest is next.
///
/// Threads: one at a time. Limits: the caller's. Failure: add() may throw std::bad_alloc.
template <class T>
class ClientTurns {
  public:
    enum class Next : unsigned char {
        oldest,
        newest,  // under overload, some entries are served early instead of all of them too late
    };
    explicit ClientTurns(Next next = Next::oldest) : next_(next) {}

    void add(std::string_view client, T entry) {
        auto found = waiting_.find(client);
        if (found == waiting_.end()) {
            found = waiting_.emplace(client, std::deque<T>()).first;
        }
        found->second.push_back(std::move(entry));
    }
    [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
    /// Removes and returns the next entry. There must be one.
    T pop() {
        auto turn = waiting_.upper_bound(last_);  // the clients in the order of their names, again and again
        turn = turn == waiting_.end() ? waiting_.begin() : turn;
        std::deque<T>& entries = turn->second;
        T entry = std::move(next_ == Next::oldest ? entries.front() : entries.back());
        next_ == Next::oldest ? entries.pop_front() : entries.pop_back();
        last_ = turn->first;
        if (entries.empty()) {
            waiting_.erase(turn);
        }
        return entry;
    }
    void clear() noexcept { waiting_.clear(); }

  private:
    const Next next_;
    std::map<std::string, std::deque<T>, std::less<>> waiting_;  // clients with entries
    std::string last_;                                           // the client that had the last turn
};

}  // namespace telegate
