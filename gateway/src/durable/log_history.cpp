#include "durable/log_history.hpp"

#include "log/log_line.hpp"

#include "core/start_thread.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace telegate {

LogHistory::LogHistory(Parts parts) : parts_(std::move(parts)), index_(parts_.files, parts_.directory) {}

bool LogHistory::ask(LogQuery query, Done done) {
    return post([this, query = std::move(query), done = std::move(done)] { done(read(query)); });
}

bool LogHistory::post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (requests_.size() >= requests_max || is_closed_) {
        ++counts_.refused;
        return false;
    }
    if (!thread_.joinable()) {
        thread_ = start_thread("tg-log-read", [this] { run(); });
    }
    requests_.push_back(std::move(work));
    wake_.notify_one();
    return true;
}

std::shared_ptr<void> LogHistory::take_place() {
    const bool is_free = ++places_taken_ <= places_max;
    std::shared_ptr<void> place(this, [this](void*) { --places_taken_; });
    if (is_free) {
        return place;
    }
    const std::lock_guard lock(mutex_);
    ++counts_.refused;
    return nullptr;
}

void LogHistory::close() {
    {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
        wake_.notify_one();
    }
    if (thread_.joinable()) {
        thread_.join();
    }
    requests_.clear();
}

LogReadCounts LogHistory::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

/// Closes the cursors if there is no request within idle_max.
void LogHistory::wait_for_request(std::unique_lock<std::mutex>& lock) {
    const auto is_over = [this] {
        return is_closed_ || !requests_.empty();
    };
    if (!wake_.wait_for(lock, idle_max, is_over)) {
        cursors_.clear();
        wake_.wait(lock, is_over);
    }
}

void LogHistory::run() {
    lower_priority();
    std::unique_lock lock(mutex_);
    for (;;) {
        wait_for_request(lock);
        if (is_closed_) {
            return;
        }
        std::function<void()> request = std::move(requests_.front());
        requests_.pop_front();
        lock.unlock();
        request();
        request = nullptr;
        lock.lock();
    }
}

SamplePage LogHistory::read(const LogQuery& query) {
    SamplePage page;
    page.is_from_log = true;
    page.epoch_ms = query.epoch_ms;
    page.position = page.end_position = query.position;
    try {
        query.since_utc_ns ? locate(query, page) : fill(query, page);
        if (page.is_epoch_over()) {
            page.next_epoch_ms = index_.epoch_after(query.epoch_ms);
        }
    } catch (const std::exception& error) {
        parts_.log.warn_limited("log read", LogLine("cannot read the durable log").quote("reason", error.what()));
        cursors_.clear();
        page.state = SamplePage::State::failed;
        if (query.epoch_ms == epoch_ms()) {
            continue_in_history(store::GapReason::damaged, page);
        }
    }
    const std::lock_guard lock(mutex_);
    ++counts_.pages;
    counts_.samples += page.samples.size();
    counts_.late += page.state == SamplePage::State::late ? 1U : 0U;
    counts_.failed += page.state == SamplePage::State::failed ? 1U : 0U;
    return page;
}

/// Finds the position of the first sample with this time or a later one.
void LogHistory::locate(const LogQuery& query, SamplePage& page) {
    const std::int64_t since_utc_ns = *query.since_utc_ns;
    store::LogReader reader(parts_.files, parts_.directory);
    reader.seek_time(since_utc_ns);
    store::LogBatch batch;
    page.position = page.end_position = parts_.history.first_since_utc(since_utc_ns);
    while (reader.next(batch)) {
        if (!query.finds_epoch && batch.epoch_ms != page.epoch_ms && batch.published_before) {
            page.position = page.end_position = 0;  // everything of this epoch is later
            return;
        }
        const auto found = std::find_if(batch.samples.begin(), batch.samples.end(),
                                        [&](const auto& sample) { return sample.time_utc_ns >= since_utc_ns; });
        if (found != batch.samples.end()) {
            const auto before = static_cast<std::uint64_t>(found - batch.samples.begin());
            page.epoch_ms = batch.epoch_ms;
            page.position = page.end_position = batch.published_before.value_or(0) + before;
            return;
        }
    }
}

std::optional<store::Position> LogHistory::start_of(const LogQuery& query) {
    if (!query.finds_topics) {
        return index_.find(query.epoch_ms, query.position);
    }
    return index_.find(query.epoch_ms, [&](const store::SegmentChannel& channel) {
        const auto seqs = query.selection->find(channel.device + "/" + channel.channel);
        return seqs ? seqs->first : 0;
    });
}

/// Returns the cursor that can continue there, or a new one; null if the log has no data from the epoch.
LogCursor* LogHistory::cursor_for(const LogQuery& query) {
    const auto known = std::find_if(cursors_.begin(), cursors_.end(), [&](const LogCursor& each) {
        return !query.finds_topics && each.can_continue(query.epoch_ms, query.position, *query.selection);
    });
    if (known != cursors_.end()) {
        cursors_.splice(cursors_.begin(), cursors_, known);
        cursors_.front().move_to(query.position);
        return &cursors_.front();
    }
    const auto start = start_of(query);
    if (!start) {
        return nullptr;
    }
    LogCursor::Options options{parts_.directory, query.epoch_ms, query.selection};
    options.present_text = query.epoch_ms == epoch_ms() ? &parts_.text : nullptr;
    options.tags = parts_.tags;
    cursors_.emplace_front(parts_.files, std::move(options), *start);
    if (!query.finds_topics) {
        cursors_.front().move_to(query.position);
    }
    if (cursors_.size() > cursors_max) {
        cursors_.pop_back();
    }
    return &cursors_.front();
}

void LogHistory::fill(const LogQuery& query, SamplePage& page) {
    using Result = LogCursor::Result;
    using State = SamplePage::State;
    const bool is_present = query.epoch_ms == epoch_ms();
    LogCursor* cursor = cursor_for(query);
    if (cursor == nullptr && is_present && parts_.durable.write_now(query.position, write_time_max)) {
        cursor = cursor_for(query);  // it was not written yet
    }
    if (cursor == nullptr && is_present) {
        return end_log(page);
    }
    if (cursor == nullptr) {
        page.state = State::unknown_epoch;
        return;
    }
    page.text = cursor->text();
    Result result = cursor->fill(page);
    while (result == Result::log_end && is_present && may_have_more(*cursor, page)) {
        result = cursor->fill(page);
    }
    page.end_position = std::max(page.end_position, cursor->position());
    if (result == Result::epoch_end || (result == Result::log_end && !is_present)) {
        page.state = cursor->has_ended() ? State::ended : State::crashed;
    }
}

/// Called at the end of the log of this epoch. Returns whether the log has more now; otherwise, ends the page.
bool LogHistory::may_have_more(LogCursor& cursor, SamplePage& page) {
    const std::uint64_t written = parts_.durable.written();
    if (cursor.fill(page) != LogCursor::Result::log_end) {  // written before `written` was read
        return true;
    }
    if (cursor.position() < written) {
        cursor.pass(written, page);  // the log was full; it will add gaps for these samples later
    }
    page.end_position = cursor.position();
    if (cursor.position() < parts_.history.oldest() && parts_.durable.write_now(cursor.position(), write_time_max)) {
        return true;
    }
    end_log(page);
    return false;
}

/// Ends a page where the log ends.
void LogHistory::end_log(SamplePage& page) {
    if (page.end_position >= parts_.history.oldest()) {
        page.state = SamplePage::State::memory;
    } else if (parts_.durable.status().error.empty()) {
        const bool is_empty = page.samples.empty() && page.end_position == page.position;
        page.state = is_empty ? SamplePage::State::late : SamplePage::State::more;
    } else {
        continue_in_history(store::GapReason::log_slow, page);
    }
}

/// Reports samples as missing that are neither in the log nor in the history.
void LogHistory::continue_in_history(store::GapReason reason, SamplePage& page) {
    const std::uint64_t oldest = parts_.history.oldest();
    if (page.end_position < oldest) {
        page.missing.push_back({page.end_position, oldest - 1, reason});
        page.end_position = oldest;
    }
    page.state = SamplePage::State::memory;
}

}  // namespace telegate
