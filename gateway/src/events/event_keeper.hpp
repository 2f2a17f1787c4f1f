#pragma once

#include "base/worker.hpp"
#include "core/clock.hpp"
#include "events/events.hpp"
#include "log/log.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace telegate {

/// Writes events to the log and to the event file on a thread `tg-events`, so that neither a sampling thread nor the io
/// thread waits for a disk. The file is replaced atomically, so it has either the old or the new contents.
///
/// Threads: constructor, start() and stop(): the main thread; wake(): any.
/// Limits: the file is written at most once per write_interval, immediately after an acknowledgment, and at stop(). A
/// file larger than events_bytes_max is not read.
/// Failure: start() throws std::system_error if no thread can be created. A file that cannot be read or written is
/// logged; a file that cannot be read is renamed to PATH.broken.
class EventKeeper {
  public:
    /// After a power failure, the file lacks at most the events of this period; the log has them.
    static constexpr std::chrono::seconds write_interval{10};

    /// Restores the events from the file. `path` "": no file. `on_write` is called on the same thread after each write
    /// of the file.
    EventKeeper(EventLog& events, Log& log, std::string path, std::function<void()> on_write = {});
    ~EventKeeper() { stop(); }
    EventKeeper(const EventKeeper&) = delete;
    EventKeeper& operator=(const EventKeeper&) = delete;

    void start();
    /// Reports new events. Returns immediately.
    void wake() { worker_.call_soon(); }
    /// Writes the remaining events. Idempotent.
    void stop();

  private:
    /// Returns the time of the next call without wake().
    [[nodiscard]] MonoTime keep();
    void log_new();
    void write_file();

    EventLog& events_;
    Log& log_;
    const std::string path_;
    const std::function<void()> on_write_;
    const SystemClock clock_;
    std::uint64_t logged_ = 0;   // number of the last event written to the log
    std::uint64_t written_ = 0;  // number of the last event written to the file
    MonoTime write_at_{};        // earliest time of the next write
    bool is_started_ = false;
    Worker worker_;
};

}  // namespace telegate
