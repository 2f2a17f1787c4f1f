#pragma once

#include "http/http_budget.hpp"
#include "http/http_connection.hpp"

#include "core/clock.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace telegate {

/// The connections of a server, each served by one worker at a time. What happens to one while it is served is
/// remembered, and whoever serves it then goes on. Requests are answered by all workers but one at a time, since an
/// answer may wait for another thread: there is always a worker that reads, sends and answers what goes first.
///
/// Threads: any.
/// Limits:  connections_max besides the streams; when they are taken, the one with the least HttpClaim gives way. Whole
///          requests that no worker may answer yet: one for each connection; they are answered in their order.
/// Failure: add() may throw std::bad_alloc; the connection is closed then.
class HttpPlaces {
  public:
    using Id = std::uint64_t;
    /// Why a connection is to be served.
    struct News {
        bool ended = false;  // the peer's side is closed
        bool woken = false;  // its stream may have something new
    };
    /// A connection to serve now.
    struct Work {
        HttpConnection* connection = nullptr;  // null: there is none
        Id id = 0;
        News news{};
        bool may_answer = false;
    };
    /// Called with the lock held, when the connection has its place.
    using Watch = std::function<void(int descriptor, Id id)>;

    HttpPlaces(const HttpBudget& budget, std::size_t workers, Id first_id) noexcept
        : budget_(budget), answering_max_(std::max<std::size_t>(workers, 2) - 1), id_next_(first_id) {}

    void add(std::unique_ptr<HttpConnection> connection, MonoTime now, const Watch& watch);
    /// Nothing when the connection is gone, or another worker has it and will see to the news.
    [[nodiscard]] Work take(Id id, News news) noexcept;
    /// After serving it. What the caller is to go on with: the same connection, of which there is news, or one whose
    /// request waits for a worker.
    [[nodiscard]] Work give_back(const Work& work, HttpConnection::Wants wants) noexcept;
    /// Closes what is overdue and lists those that have to speak, as many as `ids` has memory for. Cheap until
    /// next_due().
    void sweep(MonoTime now, std::vector<Id>& ids) noexcept;
    /// The same of those that may be streaming.
    void find_streams(std::vector<Id>& ids) noexcept;
    [[nodiscard]] MonoTime next_due() const noexcept { return MonoTime(Duration(next_due_)); }
    /// Ends them all; nobody serves one.
    void clear(MonoTime now) noexcept;

  private:
    struct Entry {
        std::unique_ptr<HttpConnection> connection;
        bool busy = false;         // a worker has it
        bool again = false;        // there was news while it was busy
        std::uint64_t queued = 0;  // a number that grows with each; 0: no request of it waits for a worker
        News news{};
    };
    using Entries = std::unordered_map<Id, Entry>;

    bool close_least_claim(MonoTime now);
    [[nodiscard]] Work start(Entries::value_type& entry) noexcept;
    Entries::iterator erase(Entries::iterator entry) noexcept;
    [[nodiscard]] Work next_queued() noexcept;
    void note_due(const HttpConnection& connection) noexcept;

    const HttpBudget& budget_;
    const std::size_t answering_max_;
    std::atomic<Duration::rep> next_due_{MonoTime::max().time_since_epoch().count()};  // none is due before this

    std::mutex mutex_;  // guards the rest; never held while a request is answered
    Entries entries_;   // by id, which no later connection has again
    Id id_next_;
    std::size_t answering_ = 0;   // workers that may be answering
    std::size_t queue_size_ = 0;  // requests that wait for one of them
    std::uint64_t queued_ever_ = 0;
};

}  // namespace telegate
