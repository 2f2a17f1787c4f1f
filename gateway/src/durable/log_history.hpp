#pragma once

#include "durable/durable_log.hpp"
#include "durable/log_cursor.hpp"
#include "durable/sample_page.hpp"
#include "encode/tags.hpp"
#include "line/history.hpp"
#include "log/log.hpp"

#include "core/channel_table.hpp"
#include "store/file_system.hpp"
#include "store/log_index.hpp"
#include "store/log_reader.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace telegate {

/// The next samples that a reader needs from the log.
struct LogQuery : SampleStart {  // with since_utc_ns, only the position is found
    std::shared_ptr<const SampleSelection> selection;
};

/// Reads samples that the history no longer holds from the durable log, in pages, on its own thread (tg-log-read),
/// which starts with the first request. Requests take turns by page.
///
/// Threads: ask(), post(), take_place() and counts() any; close() one.
/// Limits: requests_max pending requests. A page takes a few milliseconds, see LogCursor. Between pages, cursors_max
/// readers keep their place, with one block each, up to idle_max after the last request.
/// Failure: the state of a page says what went wrong; ask() throws std::bad_alloc, and std::system_error if the thread
/// cannot be created.
class LogHistory {
  public:
    static constexpr std::size_t requests_max = 64;
    static constexpr std::size_t cursors_max = 4;
    /// Readers that keep a block and the index of a segment in memory, about 0.3 MB with 1,000 channels; a browser
    /// opens six connections.
    static constexpr std::size_t places_max = 8;
    static constexpr std::chrono::seconds idle_max{10};
    /// How long a page may wait for the log to be written.
    static constexpr std::chrono::milliseconds write_time_max{2'000};

    struct Parts {
        const History& history;
        DurableLog& durable;
        std::string directory;
        SampleText& text;  // of this epoch
        Tags tags;
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
    [[nodiscard]] bool ask(LogQuery query, Done done);
    /// Runs `work`, which should take some milliseconds and not throw, on tg-log-read, unless close() is called before.
    /// Returns false if too many requests are pending.
    [[nodiscard]] bool post(std::function<void()> work);
    /// Reserves a place for a reader that posts its work, until the returned object is destroyed. Returns null if all
    /// places_max are taken.
    [[nodiscard]] std::shared_ptr<void> take_place();
    /// Discards pending requests and waits for the current one.
    void close();

    [[nodiscard]] LogReadCounts counts() const;
    /// Returns when the oldest segment of the log began, in UTC; 0: unknown. Threads: any.
    [[nodiscard]] std::int64_t oldest_utc_ns() const noexcept { return parts_.durable.oldest_utc_ns(); }
    [[nodiscard]] std::int64_t epoch_ms() const noexcept { return parts_.text.epoch_ms(); }
    [[nodiscard]] const Parts& parts() const noexcept { return parts_; }

  private:
    void run();
    void wait_for_request(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] SamplePage read(const LogQuery& query);
    void locate(const LogQuery& query, SamplePage& page);
    void fill(const LogQuery& query, SamplePage& page);
    [[nodiscard]] bool may_have_more(LogCursor& cursor, SamplePage& page);
    void end_log(SamplePage& page);
    void continue_in_history(store::GapReason reason, SamplePage& page);
    [[nodiscard]] LogCursor* cursor_for(const LogQuery& query);
    [[nodiscard]] std::optional<store::Position> start_of(const LogQuery& query);

    const Parts parts_;
    store::LogIndex index_;
    std::list<LogCursor> cursors_;  // the last used first
    std::atomic<std::size_t> places_taken_{0};

    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable wake_;
    std::deque<std::function<void()>> requests_;
    LogReadCounts counts_;
    bool is_closed_ = false;
    std::thread thread_;
};

}  // namespace telegate
