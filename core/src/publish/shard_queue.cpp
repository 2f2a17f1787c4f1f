#include "publish/shard_queue.hpp"

#include "core/limits.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

namespace telegate {
namespace {

constexpr std::size_t unused_lists_min = 64;  // removing fewer is not worthwhile

std::size_t bytes_of(const ShardMessage& message) noexcept {
    return message.topic.size() + message.payload.size();
}

}  // namespace

ShardQueue::ShardQueue(ShardLink& link, SegmentPool& pool, std::size_t backlog_bytes_max, ShardQueueCalls calls)
    : link_(link), backlog_bytes_max_(backlog_bytes_max), calls_(std::move(calls)), outbox_(pool) {}

ShardReadersRef ShardQueue::ref_to(std::vector<ShardReader> list) {
    const auto [place, is_new] = lists_.try_emplace(std::move(list));
    ShardReaders& readers = place->second;
    if (is_new) {
        readers.list = place->first;
    } else if (readers.uses == 0) {
        --unused_;
    }
    return {*this, readers};
}

void ShardQueue::release(ShardReaders& readers) noexcept {
    if (--readers.uses == 0) {
        ++unused_;
    }
}

/// Removes lists that topics no longer use, once the shard has applied the last record that refers to them.
void ShardQueue::forget_unused() {
    if (unused_ < std::max(unused_lists_min, lists_.size() / 2)) {
        return;
    }
    const std::uint64_t applied = link_.applied();
    unused_ -= std::erase_if(
        lists_, [&](const auto& entry) { return entry.second.uses == 0 && entry.second.records_end <= applied; });
}

/// Queues the messages that were added since begin().
void ShardQueue::collect() {
    Backlog& fresh = outbox_.backlog();
    if (fresh.empty()) {
        return;
    }
    fresh.take_runs([this](SegmentRef segment, const Slice& slice, std::uint32_t messages) {
        const std::uint64_t start = segment->start;
        const std::uint64_t log_end = start + segment->capacity;
        add({std::move(segment), readers_, slice.begin, slice.end, messages, {}, start + slice.begin, log_end});
    });
    readers_ = nullptr;
}

void ShardQueue::add(Entry entry) {
    if (is_anything_waiting()) {
        Entry& last = waiting_.back();
        if (last.segment.get() == entry.segment.get() && last.readers == entry.readers && last.end == entry.begin) {
            last.end = entry.end;
            last.messages += entry.messages;
            return;
        }
    }
    ShardReaders& readers = *entry.readers;
    push(std::move(entry));
    ++readers.uses;
}

void ShardQueue::push(Entry entry) {
    make_room([this] { return waiting_.size() - first_ >= limits::backlog_runs_max; });
    waiting_.push_back(std::move(entry));
}

/// Passes data on while it is too much, and waits for the shard if necessary. If that fails, drops it.
template <class Condition>
void ShardQueue::make_room(const Condition& is_too_much) {
    try {
        for (bool is_progress = true; is_progress && is_too_much();) {
            const std::uint64_t before = link_.put_count();
            pass_on();
            if (link_.put_count() == before) {
                calls_.catch_up();
                pass_on();
            }
            is_progress = link_.put_count() != before;
        }
    } catch (const std::exception&) {  // such as an exception of a hook on the shard's thread
    }
    while (is_too_much()) {
        drop_oldest();
    }
}

void ShardQueue::send_to(const ShardReader& reader, std::string_view topic, std::string_view payload,
                         const std::optional<SampleRange>& samples) {
    collect();
    const std::size_t bytes = topic.size() + payload.size();
    make_room([&] { return message_bytes_ > 0 && message_bytes_ + bytes > backlog_bytes_max_; });
    const std::uint64_t position = is_anything_waiting() ? waiting_.back().end_position() : next_position();
    Entry entry;
    entry.messages = 1;
    entry.message = std::make_unique<LinkNote>(ShardMessage{reader, std::string(topic), std::string(payload), samples});
    entry.position = position;
    entry.log_end = log_end_;
    push(std::move(entry));
    message_bytes_ += bytes;
}

void ShardQueue::pop() noexcept {
    if (waiting_[first_].readers != nullptr) {
        release(*waiting_[first_].readers);
    }
    waiting_[first_].segment.reset();
    waiting_[first_].message.reset();
    ++first_;
    if (!is_anything_waiting()) {
        waiting_.clear();
        first_ = 0;
    } else if (first_ >= limits::backlog_runs_max) {
        waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }
}

void ShardQueue::drop_oldest() {
    const Entry& oldest = waiting_[first_];
    if (oldest.message != nullptr) {
        const auto& message = std::get<ShardMessage>(*oldest.message);
        const SampleRange range = message.samples.value_or(SampleRange{});
        const LoggedSamples samples{range.first_seq, range.last_seq, range.channel, 0};
        lose({&message.reader, 1}, 1, {{&samples, message.samples ? 1U : 0U}, bytes_of(message), std::nullopt});
        message_bytes_ -= bytes_of(message);
    } else {
        const Slice slice{oldest.segment.get(), oldest.begin, oldest.end};
        lose(oldest.readers->list, oldest.messages, lost_run(slice, false));
    }
    pop();
}

/// Every loss passes through here: counts it for the shard, and reports it.
void ShardQueue::lose(std::span<const ShardReader> readers, std::uint64_t messages, const LostRun& run) {
    for (const ShardReader& reader : readers) {
        losses_[reader] += messages;
        calls_.lost(reader, run);
    }
}

void ShardQueue::drop_all() {
    collect();
    while (is_anything_waiting()) {
        drop_oldest();
    }
}

void ShardQueue::enforce(std::uint64_t log_end, std::uint64_t position) {
    collect();
    log_end_ = log_end;
    segment_start_ = position;
    // A message for one session is as old as the log's end was.
    const auto age_position = [](const Entry& entry) {
        return entry.message == nullptr ? entry.position : entry.log_end;
    };
    make_room([&] { return is_anything_waiting() && age_position(waiting_[first_]) + backlog_bytes_max_ < log_end; });
}

void ShardQueue::flush() {
    collect();
    pass_on();
    forget_unused();
}

void ShardQueue::pass_on() {
    reclaim_leases();
    while (put_losses() && is_anything_waiting()) {
        if (!can_put(waiting_[first_])) {
            link_.await_progress();
            if (!can_put(waiting_[first_])) {
                break;
            }
        }
        put(waiting_[first_]);
        pop();
    }
    // A shard without new data still needs to know how much it may keep.
    if (empty() && !leases_.empty() && log_end_reported_ < log_end_ && link_.has_room()) {
        put_log_end();
    }
    if (published_ != link_.put_count()) {
        published_ = link_.put_count();
        link_.publish();
    }
}

/// The shard's sessions keep at most backlog_bytes_max before the end of the last record that it has applied. The same
/// distance after that record bounds what the shard can keep in all.
bool ShardQueue::can_put(const Entry& entry) noexcept {
    if (!link_.has_room()) {
        return false;
    }
    const std::uint64_t applied = link_.applied();
    if (applied == link_.put_count()) {
        message_bytes_put_ = 0;
        return true;
    }
    if (entry.message != nullptr &&
        message_bytes_put_ + bytes_of(std::get<ShardMessage>(*entry.message)) > backlog_bytes_max_) {
        return false;
    }
    return entry.log_end <= std::max(window_begin_, sent_[applied - 1].log_end) + backlog_bytes_max_;
}

/// Returns false if there are losses that the link has no space for.
bool ShardQueue::put_losses() {
    if (losses_.empty()) {
        return true;
    }
    if (!link_.has_room()) {
        link_.await_progress();
        if (!link_.has_room()) {
            return false;
        }
    }
    auto note = std::make_unique<LinkNote>(ShardLosses{});
    std::get<ShardLosses>(*note).swap(losses_);
    put_note(std::move(note), log_end_reported_);
    return true;
}

/// Passes on a note, with the log's end when it was made.
void ShardQueue::put_note(std::unique_ptr<LinkNote> note, std::uint64_t log_end) noexcept {
    if (link_.applied() == link_.put_count()) {
        window_begin_ = std::max(window_begin_, log_end);
    }
    log_end_reported_ = std::max(log_end_reported_, log_end);
    sent_[link_.put_count()] = {next_position(), log_end_reported_};
    link_.put({lease_, nullptr, note.release(), 0, 0, 0, 0, log_end_reported_});
}

/// Returns a position that nothing is before that was not passed on yet.
std::uint64_t ShardQueue::next_position() const noexcept {
    return is_anything_waiting() ? waiting_[first_].position : std::max(put_end_, segment_start_);
}

void ShardQueue::put(Entry& entry) {
    if (entry.message != nullptr) {
        const std::size_t bytes = bytes_of(std::get<ShardMessage>(*entry.message));
        message_bytes_ -= bytes;
        message_bytes_put_ += bytes;
        return put_note(std::move(entry.message), entry.log_end);
    }
    Segment* const segment = entry.segment.get();
    if (lease_ == nullptr || lease_->segment.get() != segment) {
        LeaseEntry& lease = leases_.emplace_back(
            LeaseEntry{{SegmentRef(segment), segment->bytes.get(), segment->start, segment->capacity}, {}});
        lease.self = std::prev(leases_.end());
        lease_ = &lease;
    }
    const std::uint64_t log_end = segment->start + segment->capacity;
    if (link_.applied() == link_.put_count()) {
        window_begin_ = log_end;
    }
    sent_[link_.put_count()] = {segment->start + entry.begin, log_end};
    link_.put({lease_, entry.readers, nullptr, entry.begin, entry.end, segment->limit, entry.messages, log_end});
    entry.readers->records_end = link_.put_count();
    log_end_reported_ = log_end;
    put_end_ = segment->start + entry.end;
}

/// Passes on the log's end alone. The log is in another segment, so that no more data of the last one follows.
void ShardQueue::put_log_end() {
    lease_ = nullptr;
    sent_[link_.put_count()] = {put_end_, log_end_};  // later records may be anywhere after that
    link_.put({nullptr, nullptr, nullptr, 0, 0, 0, 0, log_end_});
    log_end_reported_ = log_end_;
}

void ShardQueue::reclaim_leases() noexcept {
    for (SegmentLease* lease = link_.take_released(); lease != nullptr;) {
        const auto back = static_cast<LeaseEntry*>(std::exchange(lease, lease->next))->self;
        leases_.erase(back);
    }
}

ReadProgress ShardQueue::progress() const noexcept {
    const std::uint64_t applied = link_.applied();  // first, see ShardLink::applied()
    ReadProgress progress{std::min(link_.oldest(), oldest_not_applied(applied)), 0};
    const std::uint64_t made = entries_made();
    const std::uint64_t records_max = link_.records_max();
    progress.runs_left = std::min<std::uint64_t>(
        records_max - std::min(records_max, made),
        limits::backlog_runs_max - std::min(limits::backlog_runs_max, waiting_.size() - first_));
    return progress;
}

/// Returns a lower bound of the position of what is pending here and in the link.
std::uint64_t ShardQueue::oldest_not_applied(std::uint64_t applied) const noexcept {
    std::uint64_t oldest = outbox_.backlog().oldest_position().value_or(std::uint64_t{ReadProgress::nothing_waits});
    if (is_anything_waiting()) {
        oldest = std::min(oldest, waiting_[first_].position);
    }
    if (applied != link_.put_count()) {
        oldest = std::min(oldest, sent_[applied].position);
    }
    return oldest;
}

/// Every message that the shard has not applied counts as pending for its blocking subscribers.
bool ShardQueue::blocks(std::uint64_t log_end) const noexcept {
    const std::uint64_t applied = link_.applied();  // first, see ShardLink::applied()
    const BlockLimit limit = link_.block_limit();
    if (limit.bytes_max == BlockLimit{}.bytes_max) {
        return false;
    }
    const std::uint64_t oldest = oldest_not_applied(applied);
    const std::uint64_t bytes_max = std::min(limit.bytes_max, backlog_bytes_max_);
    return log_end > limit.log_end_max || (oldest != ReadProgress::nothing_waits && log_end > oldest + bytes_max);
}

bool ShardQueue::must_wait(std::uint64_t log_end) noexcept {
    if (!blocks(log_end)) {
        return false;
    }
    link_.await_block_limit(log_end);
    return true;
}

std::uint64_t ShardQueue::entries_made() const noexcept {
    return link_.put_count() + (waiting_.size() - first_) + (outbox_.backlog().empty() ? 0 : 1);
}

void ShardQueue::await_room(std::uint64_t oldest) noexcept {
    link_.await_room(std::max<std::uint64_t>(oldest, 1), entries_made() + 1);
}

}  // namespace telegate
