#pragma once

#include "base/worker.hpp"
#include "durable/durable_log.hpp"
#include "durable/log_cursor.hpp"
#include "durable/sample_page.hpp"
#include "line/history.hpp"
#include "log/log.hpp"

#include "core/channel_table.hpp"
#include "core/client_shares.hpp"
#include "core/clock.hpp"
#include "store/file_system.hpp"
#include "store/log_index.hpp"
#include "store/log_reader.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate {

/// The next samples that a reader needs from the log.
struct LogQuery : SampleStart {  // with since_utc_ns, only the position is found
    std::shared_ptr<const SampleSelection> selection;
    bool is_at_history = false;  // the last page ended where the history began, which has moved on since then
};

/// Reads samples that the history no longer holds from the durable log, in pages, on its own thread (tg-log-read),
/// which starts with the first request. Requests take turns by page.
///
/// Threads: request(), post(), request_place() and counts() any; close() one.
/// Limits: requests_max pending requests, and waiting_max that wait for a place. A page takes a few milliseconds, see
/// LogCursor. Between pages, cursors_max readers keep their place, with one block each, up to idle_max after the last
/// request.
/// Failure: the state of a page says what went wrong; request() throws std::bad_alloc, and std::system_error if the
/// thread cannot be created.
class LogHistory {
  public:
    static constexpr std::size_t requests_max = 64;
    static constexpr std::size_t cursors_max = 4;
    /// Readers that keep a block and the index of a segment in memory, about 0.3 MB with 1,000 channels; a browser
    /// opens six connections.
    static constexpr std::size_t places_max = 8;
    /// Steps of some milliseconds that each reader may take before it has to make way for another one: enough for
    /// thousands of samples.
    static constexpr std::size_t steps_min = 4;
    /// Readers that wait for a place, of all clients and of each. Readers with and without a place have at most half of
    /// the connections of the REST server, so health checks have the others.
    static constexpr std::size_t waiting_max = 16;
    static constexpr std::size_t client_waiting_max = 4;
    static constexpr std::chrono::milliseconds wait_max{1'000};
    static constexpr std::chrono::seconds idle_max{10};
    /// How long a page may wait for the log to be written.
    static constexpr std::chrono::milliseconds write_time_max{2'000};

    struct Parts {
        const History& history;
        DurableLog& durable;
        std::string directory;
        SampleText& text;  // of this epoch
        Log& log;
        store::FileSystem& files = store::real_file_system();
    };
    explicit LogHistory(Parts parts);
    ~LogHistory() { close(); }
    LogHistory(const LogHistory&) = delete;
    LogHistory& operator=(const LogHistory&) = delete;

    /// Reads a page and calls `done` on tg-log-read, unless close() is called before. Returns false if too many
    /// requests are pending.
    using Done = std::function<void(SamplePage page)>;
    [[nodiscard]] bool request(LogQuery query, Done done);
    /// Runs `work`, which should take some milliseconds and not throw, on tg-log-read, unless close() is called before.
    /// Returns false if too many requests are pending.
    [[nodiscard]] bool post(std::function<void()> work);
    /// The place of a reader that posts its work. Threads: one at a time; make_way() any.
    class Place {
      public:
        explicit Place(std::string client) : client_(std::move(client)) {}

        /// Counts a step. Returns false if the reader has to end, in favor of another one.
        [[nodiscard]] bool take_step() noexcept {
            ++steps_;
            return !makes_way_;
        }

      private:
        friend class LogHistory;
        const std::string client_;  // see client_of()
        std::atomic<std::size_t> steps_{0};
        std::atomic<bool> makes_way_{false};
    };
    /// Reserves a place for a reader until the object that `ready` gets is destroyed. If all places_max are taken, the
    /// reader with the most steps makes way: one of the client with the most readers, if that has to yield, otherwise
    /// one of the same client after steps_min. If there is none, the reader waits; a client with fewer places has the
    /// next one. Calls `ready`, which should not throw, at once or on tg-log-read, unless close() is called before:
    /// with null if no place is free within wait_max, or too many readers wait.
    using Ready = std::function<void(std::shared_ptr<Place> place)>;
    void request_place(const std::string& client, Ready ready);
    /// Discards pending requests and waits for the current one.
    void close();

    [[nodiscard]] LogReadCounts counts() const;
    /// Returns when the oldest segment of the log began, in UTC; 0: unknown. Threads: any.
    [[nodiscard]] std::int64_t oldest_utc_ns() const noexcept { return parts_.durable.oldest_utc_ns(); }
    [[nodiscard]] std::int64_t epoch_ms() const noexcept { return parts_.text.epoch_ms(); }
    [[nodiscard]] const Parts& parts() const noexcept { return parts_; }

  private:
    struct Reader {
        std::shared_ptr<Place> place;
        Ready ready;
        MonoTime deadline;
    };
    [[nodiscard]] ClientShares shares() const;
    [[nodiscard]] bool claim(Place& place);
    [[nodiscard]] bool make_way(const ClientShares& shares, const std::string& client);
    [[nodiscard]] std::optional<Reader> wait(Reader& reader);
    void serve_waiting(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] MonoTime serve();
    [[nodiscard]] SamplePage read(const LogQuery& query);
    void locate(const LogQuery& query, SamplePage& page);
    void fill(const LogQuery& query, SamplePage& page);
    [[nodiscard]] std::uint64_t end_of(const LogQuery& query) const;
    [[nodiscard]] bool may_have_more(LogCursor& cursor, SamplePage& page, std::uint64_t until);
    void end_log(SamplePage& page);
    void continue_in_history(store::GapReason reason, SamplePage& page);
    [[nodiscard]] LogCursor* cursor_for(const LogQuery& query);
    [[nodiscard]] std::optional<store::Position> start_of(const LogQuery& query);

    const Parts parts_;
    store::LogIndex index_;
    std::list<LogCursor> cursors_;        // the last used first
    MonoTime idle_at_ = MonoTime::max();  // when the cursors are closed
    mutable std::mutex mutex_;            // guards the members below, except worker_
    std::deque<std::function<void()>> requests_;
    LogReadCounts counts_;
    std::vector<Place*> places_;  // of readers that do not make way, at most places_max, and of as many that do
    std::deque<Reader> waiting_;  // the oldest first
    bool is_closed_ = false;
    Worker worker_;
};

}  // namespace telegate
