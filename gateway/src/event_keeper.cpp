#include "event_keeper.hpp"

#include "event_text.hpp"
#include "log_value.hpp"
#include "whole_file.hpp"

#include "core/start_thread.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <system_error>
#include <utility>
#include <variant>

namespace telegate {

EventKeeper::EventKeeper(EventLog& events, Log& log, std::string path, std::function<void()> on_write)
    : events_(events), log_(log), path_(std::move(path)), on_write_(std::move(on_write)) {
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
    const std::string aside = path_ + ".broken";
    const bool is_renamed = std::rename(path_.c_str(), aside.c_str()) == 0;
    log_.error("file of events not used file=" + log_value(path_) + " why=" + log_quoted(why) +
               (is_renamed ? " renamed_to=" + log_value(aside) : ""));
}

void EventKeeper::start() {
    thread_ = start_thread("tg-events", [this] { run(); });
}

void EventKeeper::wake() {
    const std::lock_guard lock(mutex_);
    has_news_ = true;
    woken_.notify_one();
}

void EventKeeper::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
        woken_.notify_one();
    }
    if (thread_.joinable()) {
        thread_.join();
        try {
            log_new();
            write_file();
        } catch (const std::exception&) {  // no memory: the file stays as it was
        }
    }
}

void EventKeeper::run() {
    while (wait()) {
        try {
            events_.settle();
            log_new();
            if (clock_.mono_now() >= write_at_) {
                write_file();
            }
        } catch (const std::exception&) {  // no memory
            write_at_ = clock_.mono_now() + write_interval;
        }
    }
}

bool EventKeeper::wait() {
    MonoTime until = MonoTime::max();
    if (!path_.empty() && written_ != events_.last_number()) {
        until = write_at_;
    }
    if (!events_.is_settled()) {
        until = std::min(until, clock_.mono_now() + EventLog::settle_interval);
    }
    std::unique_lock lock(mutex_);
    const auto is_woken = [this] {
        return has_news_ || is_over_;
    };
    if (until == MonoTime::max()) {
        woken_.wait(lock, is_woken);
    } else {
        woken_.wait_until(lock, until, is_woken);
    }
    has_news_ = false;
    return !is_over_;
}

void EventKeeper::log_new() {
    for (const EventEntry& entry : events_.after(logged_)) {
        switch (row_of(entry.event->kind).logging) {
            case EventLogging::none: break;
            case EventLogging::info: log_.info_each(event_line(entry)); break;
            case EventLogging::warning: log_.warn_each(event_line(entry)); break;
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
        log_.error("file of events not written file=" + log_value(path_) + " why=" + log_quoted(error.what()));
    }
    if (on_write_) {
        on_write_();
    }
}

}  // namespace telegate
