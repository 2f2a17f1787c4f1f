#pragma once

#include "base/timer_thread.hpp"
#include "core/clock.hpp"
#include "events/events.hpp"
#include "log/log.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace telegate {

/// Writes events to the log and to their file, on a thread `tg-events`, so that neither a sampling thread nor the io
/// thread waits for a disk. The file is replaced as a whole: it always has an old or a new state.
///
/// Threads: constructor, start(), stop() the main one; wake() any.
/// Limits:  the file is written at most once per write_interval, at once after an acknowledgement, and at stop(). One
/// of
///          more than events_bytes_max is not read.
/// Failure: start() throws std::system_error if the system has no thread. A file that cannot be read or written is
///          logged; one that cannot be read is renamed to PATH.broken.
class EventKeeper {
  public:
    /// After a power failure at most the events of so long are missing in the file; the log has them.
    static constexpr std::chrono::seconds write_interval{10};

    /// Restores the events of the file. `path` "": there is no file. `on_write` is called after each time that the file
    /// is written, on the same thread.
    EventKeeper(EventLog& events, Log& log, std::string path, std::function<void()> on_write = {});
    ~EventKeeper() { stop(); }
    EventKeeper(const EventKeeper&) = delete;
    EventKeeper& operator=(const EventKeeper&) = delete;

    void start();
    /// There are events. Returns at once.
    void wake() { timer_.call_at(MonoTime::min()); }
    /// Writes what is left. Idempotent.
    void stop();

  private:
    void restore();
    /// Returns when it must be called again without wake().
    [[nodiscard]] MonoTime keep();
    void log_new();
    void write_file();

    EventLog& events_;
    Log& log_;
    const std::string path_;
    const std::function<void()> on_write_;
    const SystemClock clock_;
    std::uint64_t logged_ = 0;   // up to this number
    std::uint64_t written_ = 0;  // as well, to the file
    MonoTime write_at_{};        // not before
    bool is_started_ = false;
    TimerThread timer_;
};

}  // namespace telegate
