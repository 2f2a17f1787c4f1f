#pragma once

#include "http_budget.hpp"
#include "http_connection.hpp"

#include "core/clock.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace telegate {

/// The connections of a server, each served by one worker at a time. What happens to one while it is served is
/// remembered, and whoever serves it then goes on.
///
/// Threads: any.
/// Limits:  connections_max besides the streams; when they are taken, the one with the least HttpClaim gives way.
/// Failure: std::bad_alloc.
class HttpPlaces {
  public:
    using Id = std::uint64_t;
    /// Why a connection is to be served.
    struct News {
        bool ended = false;  // the peer's side is closed
        bool woken = false;  // its stream may have something new
    };
    /// Called with the lock held, when the connection has its place.
    using Watch = std::function<void(int descriptor, Id id)>;

    HttpPlaces(const HttpBudget& budget, Id first_id) noexcept : budget_(budget), id_next_(first_id) {}

    void add(std::unique_ptr<HttpConnection> connection, MonoTime now, const Watch& watch);
    /// The connection to serve now; nullptr when it is gone, or another worker has it and will see to the news.
    [[nodiscard]] HttpConnection* take(Id id, News& news);
    /// After serving it. Whether there is news meanwhile, and the caller is to go on.
    [[nodiscard]] bool give_back(Id id, bool close, News& news);
    /// Closes what is overdue and returns the streams that have to speak. Cheap until next_due().
    [[nodiscard]] std::vector<Id> sweep(MonoTime now);
    [[nodiscard]] std::vector<Id> streams();
    [[nodiscard]] MonoTime next_due() const noexcept { return MonoTime(Duration(next_due_)); }
    /// Ends them all; nobody serves one.
    void clear(MonoTime now);

  private:
    struct Entry {
        std::unique_ptr<HttpConnection> connection;
        bool busy = false;   // a worker has it
        bool again = false;  // there was news while it was busy
        News news{};
    };

    bool close_least_claim(MonoTime now);
    void note_due(const HttpConnection& connection) noexcept;

    const HttpBudget& budget_;
    std::atomic<Duration::rep> next_due_{MonoTime::max().time_since_epoch().count()};  // none is due before this

    std::mutex mutex_;                       // guards the rest; never held while a request is answered
    std::unordered_map<Id, Entry> entries_;  // by id, which no later connection has again
    Id id_next_;
};

}  // namespace telegate
