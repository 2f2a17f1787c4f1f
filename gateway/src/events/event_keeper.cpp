#include "events/event_keeper.hpp"

#include "events/event_text.hpp"
#include "log/log_line.hpp"
#include "state/saved_file.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

EventKeeper::EventKeeper(EventLog& events, Log& log, std::string path, std::function<void()> on_write)
    : events_(events), log_(log), path_(std::move(path)), on_write_(std::move(on_write)), worker_("tg-events", [this] {
          return keep();
      }) {
    if (auto entries = read_saved(log_, "event file", path_, events_bytes_max, read_events)) {
        events_.restore(std::move(*entries));
    }
    logged_ = events_.last_number();
    written_ = logged_;
}

void EventKeeper::start() {
    worker_.start();
    is_started_ = true;
}

void EventKeeper::stop() {
    worker_.stop();
    if (std::exchange(is_started_, false)) {
        log_new();
        write_file();
    }
}

MonoTime EventKeeper::keep() {
    events_.settle();
    log_new();
    if (clock_.mono_now() >= write_at_) {
        write_file();
    }
    MonoTime next = MonoTime::max();
    if (!path_.empty() && written_ != events_.last_number()) {
        next = write_at_;
    }
    return events_.is_settled() ? next : std::min(next, clock_.mono_now() + EventLog::settle_interval);
}

void EventKeeper::log_new() {
    for (const EventEntry& entry : events_.after(logged_)) {
        switch (row_of(entry.event->kind).logging) {
            case EventLogging::none: break;
            case EventLogging::info: log_.info_each(event_line(entry)); break;
            case EventLogging::warning: log_.warn_each(event_line(entry)); break;
        }
        if (entry.event->kind == EventKind::alarm_acknowledged) {
            write_at_ = MonoTime::min();  // an operator's action, which is not repeated
        }
        logged_ = entry.number;
    }
}

void EventKeeper::write_file() {
    const std::vector<EventEntry> entries = events_.after(0);
    if (path_.empty() || entries.empty() || entries.back().number == written_) {
        return;
    }
    write_at_ = clock_.mono_now() + write_interval;
    if (write_saved(log_, "event file", path_, events_file_text(entries))) {
        written_ = entries.back().number;
    }
    if (on_write_) {
        on_write_();
    }
}

}  // namespace telegate
