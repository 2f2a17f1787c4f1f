#include "events/event_keeper.hpp"

#include "base/whole_file.hpp"
#include "events/event_text.hpp"
#include "log/log_line.hpp"
#include "state/broken_file.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>
#include <variant>

namespace telegate {

EventKeeper::EventKeeper(EventLog& events, Log& log, std::string path, std::function<void()> on_write)
    : events_(events), log_(log), path_(std::move(path)), on_write_(std::move(on_write)), timer_("tg-events", [this] {
          return keep();
      }) {
    if (!path_.empty()) {
        restore();
    }
    logged_ = events_.last_number();
    written_ = logged_;
}

void EventKeeper::restore() {
    std::string why;
    try {
        auto result = read_events(read_whole_file(path_, events_bytes_max));
        if (auto* const entries = std::get_if<std::vector<EventEntry>>(&result)) {
            return events_.restore(std::move(*entries));
        }
        why = std::get<std::string>(result);
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::no_such_file_or_directory) {
            return;
        }
        why = error.code().message();
    }
    rename_broken(log_, "event file", path_, why);
}

void EventKeeper::start() {
    timer_.start();
    is_started_ = true;
}

void EventKeeper::stop() {
    timer_.stop();
    if (std::exchange(is_started_, false)) {
        try {
            log_new();
            write_file();
        } catch (const std::exception&) {  // no memory: the file stays unchanged
        }
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
    try {
        replace_whole_file(path_, events_file_text(entries));
        written_ = entries.back().number;
    } catch (const std::system_error& error) {
        log_.error(LogLine("cannot write event file").add("file", path_).quote("reason", error.what()));
    }
    if (on_write_) {
        on_write_();
    }
}

}  // namespace telegate
