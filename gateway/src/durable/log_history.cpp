#include "durable/log_history.hpp"

#include "log/log_line.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace telegate {

LogHistory::LogHistory(Parts parts)
    : parts_(std::move(parts)),
      index_(parts_.files, parts_.directory),
      worker_(
          "tg-log-read", [this] { return serve(); }, Worker::Priority::low) {
    places_.reserve(2 * places_max);
}

bool LogHistory::request(LogQuery query, Done done) {
    return post([this, query = std::move(query), done = std::move(done)] { done(read(query)); });
}

bool LogHistory::post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (requests_.size() >= requests_max || is_closed_) {
        ++counts_.refused;
        return false;
    }
    worker_.start();
    requests_.push_back(std::move(work));
    worker_.call_soon();
    return true;
}

void LogHistory::request_place(const std::string& client, Ready ready) {
    const auto end = [this](Place* ended) {
        {
            const std::lock_guard lock(mutex_);
            std::erase(places_, ended);
        }
        worker_.call_soon();
        delete ended;
    };
    // Destroyed without the mutex, which their places need.
    Reader reader{{new Place(client), end}, std::move(ready), std::chrono::steady_clock::now() + wait_max};
    std::optional<Reader> refused;
    {
        const std::lock_guard lock(mutex_);
        if (!claim(*reader.place)) {
            refused = wait(reader);
            counts_.refused += refused ? 1U : 0U;
        }
    }
    if (refused) {
        refused->ready(nullptr);
    } else if (reader.place != nullptr) {  // it does not wait
        reader.ready(std::move(reader.place));
    }
}

/// Lets a reader wait, unless too many do. Returns the reader that cannot wait: this one, or the newest one of the
/// client with the most. The caller holds the mutex.
std::optional<LogHistory::Reader> LogHistory::wait(Reader& reader) {
    const std::string& client = reader.place->client_;
    ClientShares shares;
    for (const Reader& each : waiting_) {
        shares.add(each.place->client_);
    }
    const bool is_full = waiting_.size() >= waiting_max;
    if (is_closed_ || shares.of(client) >= client_waiting_max || (is_full && !shares.yields_to(client))) {
        return std::move(reader);
    }
    worker_.start();
    std::optional<Reader> refused;
    if (is_full) {
        const auto newest = std::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Reader& each) {
            return each.place->client_ == shares.most().client;
        });
        refused = std::move(*newest);
        waiting_.erase(std::next(newest).base());
    }
    waiting_.push_back(std::move(reader));
    worker_.call_soon();  // so that it waits for the deadline
    return refused;
}

/// Assigns free places to the readers that wait, and refuses those that have waited too long. Releases the lock while
/// it calls them.
void LogHistory::serve_waiting(std::unique_lock<std::mutex>& lock) {
    while (!waiting_.empty()) {
        auto next = waiting_.begin();
        const bool is_late = std::chrono::steady_clock::now() >= next->deadline;
        if (is_late) {
            ++counts_.refused;
        } else {
            const ClientShares held = shares();
            next = std::min_element(waiting_.begin(), waiting_.end(), [&](const Reader& one, const Reader& other) {
                return held.of(one.place->client_) < held.of(other.place->client_);
            });
            if (!claim(*next->place)) {
                return;
            }
        }
        Reader served = std::move(*next);
        waiting_.erase(next);
        lock.unlock();
        served.ready(is_late ? nullptr : std::move(served.place));
        served = {};
        lock.lock();
    }
}

/// Returns the places of each client, without those of readers that make way. The caller holds the mutex.
ClientShares LogHistory::shares() const {
    ClientShares shares;
    for (const Place* const each : places_) {
        if (!each->makes_way_) {
            shares.add(each->client_);
        }
    }
    return shares;
}

/// Returns false if no place is free. The caller holds the mutex.
bool LogHistory::claim(Place& place) {
    const ClientShares held = shares();
    if (held.size() >= places_max && !make_way(held, place.client_)) {
        return false;
    }
    places_.push_back(&place);  // has the capacity
    return true;
}

/// Returns false if no reader has to make way. The caller holds the mutex.
bool LogHistory::make_way(const ClientShares& shares, const std::string& client) {
    const bool others_yield = shares.yields_to(client);
    const std::string_view hog = others_yield ? shares.most().client : client;
    Place* longest = nullptr;
    for (Place* const each : places_) {
        const bool counts = !each->makes_way_ && each->client_ == hog && (others_yield || each->steps_ >= steps_min);
        if (counts && (longest == nullptr || each->steps_ > longest->steps_)) {
            longest = each;
        }
    }
    if (longest == nullptr || places_.size() >= 2 * places_max) {
        return false;
    }
    longest->makes_way_ = true;
    return true;
}

void LogHistory::close() {
    {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
    }
    worker_.stop();
    requests_.clear();
    waiting_.clear();
}

LogReadCounts LogHistory::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

/// Serves the readers that wait and one request. Closes the cursors if there is none within idle_max. Returns when to
/// call it again.
MonoTime LogHistory::serve() {
    std::unique_lock lock(mutex_);
    serve_waiting(lock);
    if (requests_.empty()) {
        if (std::chrono::steady_clock::now() >= idle_at_) {
            cursors_.clear();
            idle_at_ = MonoTime::max();
        }
        return waiting_.empty() ? idle_at_ : std::min(idle_at_, waiting_.front().deadline);
    }
    const std::function<void()> request = std::move(requests_.front());
    requests_.pop_front();
    lock.unlock();
    request();
    idle_at_ = std::chrono::steady_clock::now() + idle_max;
    return MonoTime::min();
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
            const auto sample = static_cast<std::size_t>(found - batch.samples.begin());
            const std::uint64_t position = batch.published_before_sample(sample);
            // The history may have earlier ones of devices that are not logged.
            page.position = batch.epoch_ms == epoch_ms() ? std::min(page.position, position) : position;
            page.end_position = page.position;
            page.epoch_ms = batch.epoch_ms;
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
    options.labels = parts_.text.labels();
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
    const std::uint64_t until = end_of(query);
    Result result = cursor->fill(page, until);
    while (result == Result::log_end && is_present && may_have_more(*cursor, page, until)) {
        result = cursor->fill(page, until);
    }
    page.end_position = std::max(page.end_position, cursor->position());
    page.state = page.end_position >= until ? State::memory : page.state;
    if (result == Result::epoch_end || (result == Result::log_end && !is_present)) {
        page.state = cursor->has_ended() ? State::ended : State::crashed;
    }
}

/// Returns where a page ends at the latest. The history also has the devices that are not logged, so a page ends where
/// the history begins; but if that has moved on before the page was used, only in the middle of it.
std::uint64_t LogHistory::end_of(const LogQuery& query) const {
    if (query.epoch_ms != epoch_ms() || parts_.durable.options().devices.empty()) {
        return UINT64_MAX;
    }
    const std::uint64_t oldest = parts_.history.oldest();
    return query.is_at_history ? oldest + (parts_.history.position() - oldest) / 2 : oldest;
}

/// Called at the end of the log of this epoch. Returns whether the log has more now; otherwise, ends the page.
bool LogHistory::may_have_more(LogCursor& cursor, SamplePage& page, std::uint64_t until) {
    const DurableLog::Written written = parts_.durable.written_parts();
    if (cursor.fill(page, until) != LogCursor::Result::log_end) {  // written before `written` was read
        return true;
    }
    cursor.pass(written.published - written.left_out, page);  // the log was full; it will add gaps for them later
    if (const std::uint64_t end = std::min(written.published, until); cursor.position() < end) {
        cursor.move_to(end);
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
