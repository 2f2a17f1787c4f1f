#include "publish/lane.hpp"

#include "core/limits.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t unused_lists_min = 64;  // removing fewer is not worthwhile

}  // namespace

Lane::Lane(LaneLink& link, SegmentPool& pool, std::size_t backlog_bytes_max)
    : link_(link), backlog_bytes_max_(backlog_bytes_max), outbox_(pool), sent_(2 * limits::lane_records_max) {}

LaneShare Lane::share_of(std::vector<LaneReader> list) {
    const auto [place, is_new] = lists_.try_emplace(std::move(list));
    LaneReaders& readers = place->second;
    if (is_new) {
        readers.list = place->first;
    } else if (readers.uses == 0) {
        --unused_;
    }
    return {*this, readers};
}

void Lane::let_go(LaneReaders& readers) noexcept {
    if (--readers.uses == 0) {
        ++unused_;
    }
}

/// Removes lists that topics no longer use, once the shard has applied the last record that refers to them.
void Lane::forget_unused() {
    if (unused_ < std::max(unused_lists_min, lists_.size() / 2)) {
        return;
    }
    const std::uint64_t applied = link_.applied();
    unused_ -= std::erase_if(
        lists_, [&](const auto& entry) { return entry.second.uses == 0 && entry.second.records_end <= applied; });
}

/// Queues the messages that were added since begin().
void Lane::collect() {
    Backlog& fresh = outbox_.backlog();
    if (fresh.empty()) {
        return;
    }
    if (waiting_.size() == waiting_.capacity()) {  // first, so that a failure leaves nothing to undo
        waiting_.reserve(2 * waiting_.size() + 1);
    }
    fresh.take_runs([this](SegmentRef segment, const Slice& slice, std::uint32_t messages) {
        add({std::move(segment), readers_, slice.begin, slice.end, messages});
    });
    readers_ = nullptr;
}

void Lane::add(Stretch stretch) {
    if (!empty()) {
        Stretch& last = waiting_.back();
        if (last.segment.get() == stretch.segment.get() && last.readers == stretch.readers &&
            last.end == stretch.begin) {
            last.end = stretch.end;
            last.messages += stretch.messages;
            return;
        }
    }
    if (waiting_.size() - first_ >= limits::backlog_runs_max) {
        give_up_oldest();
    }
    ++stretch.readers->uses;
    waiting_.push_back(std::move(stretch));
}

void Lane::pop() noexcept {
    let_go(*waiting_[first_].readers);
    waiting_[first_].segment.reset();
    ++first_;
    if (empty()) {
        waiting_.clear();
        first_ = 0;
    } else if (first_ >= limits::backlog_runs_max) {
        waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }
}

void Lane::give_up_oldest() {
    const Stretch& oldest = waiting_[first_];
    for (const LaneReader& reader : oldest.readers->list) {
        losses_[reader] += oldest.messages;
    }
    pop();
}

void Lane::give_up_all() {
    collect();
    while (!empty()) {
        give_up_oldest();
    }
}

void Lane::enforce(std::uint64_t log_end) {
    collect();
    log_end_ = log_end;
    while (!empty() && waiting_[first_].position() + backlog_bytes_max_ < log_end) {
        give_up_oldest();
    }
}

void Lane::flush() {
    take_back();
    collect();
    while (!empty()) {
        if (!can_put(waiting_[first_].log_end())) {
            link_.await_progress();
            if (!can_put(waiting_[first_].log_end())) {
                break;
            }
        }
        put(waiting_[first_]);
        pop();
    }
    // A shard without new data still needs to know how much it may keep.
    if (empty() && !loans_.empty() && log_end_told_ < log_end_ && link_.has_room()) {
        put_log_end();
    }
    if (published_ != link_.put_count()) {
        published_ = link_.put_count();
        link_.publish();
    }
    forget_unused();
}

/// The shard's sessions keep at most backlog_bytes_max before the end of the last record that it has applied. The same
/// distance after that record bounds what the shard can keep in all.
bool Lane::can_put(std::uint64_t log_end) const noexcept {
    if (!link_.has_room()) {
        return false;
    }
    const std::uint64_t applied = link_.applied();
    return applied == link_.put_count() ||
           log_end <= std::max(window_begin_, sent_[(applied - 1) % sent_.size()].log_end) + backlog_bytes_max_;
}

void Lane::put(Stretch& stretch) {
    Segment* const segment = stretch.segment.get();
    if (loan_ == nullptr || loan_->segment.get() != segment) {
        Lent& lent = loans_.emplace_back(
            Lent{{std::move(stretch.segment), segment->bytes.get(), segment->start, segment->capacity}, {}});
        lent.self = std::prev(loans_.end());
        loan_ = &lent;
    }
    const std::uint64_t log_end = segment->start + segment->capacity;
    if (link_.applied() == link_.put_count()) {
        window_begin_ = log_end;
    }
    sent_[link_.put_count() % sent_.size()] = {segment->start + stretch.begin, log_end};
    link_.put({loan_, stretch.readers, stretch.begin, stretch.end, stretch.messages, log_end});
    stretch.readers->records_end = link_.put_count();
    log_end_told_ = log_end;
    put_end_ = segment->start + stretch.end;
}

/// Passes on the log's end alone. The log is in another segment, so that no more data of the last one follows.
void Lane::put_log_end() {
    loan_ = nullptr;
    sent_[link_.put_count() % sent_.size()] = {put_end_, log_end_};  // later records may be anywhere after that
    link_.put({nullptr, nullptr, 0, 0, 0, log_end_});
    log_end_told_ = log_end_;
}

void Lane::take_back() noexcept {
    for (Loan* loan = link_.take_back(); loan != nullptr;) {
        const auto back = static_cast<Lent*>(std::exchange(loan, loan->next))->self;
        loans_.erase(back);
    }
}

LaneProgress Lane::progress() const noexcept {
    const std::uint64_t applied = link_.applied();  // first, see LaneLink::applied()
    LaneProgress progress{link_.oldest(), 0};
    if (applied != link_.put_count()) {
        progress.oldest = std::min(progress.oldest, sent_[applied % sent_.size()].position);
    }
    if (!empty()) {
        progress.oldest = std::min(progress.oldest, waiting_[first_].position());
    }
    progress.oldest = std::min(
        progress.oldest, outbox_.backlog().oldest_position().value_or(std::uint64_t{LaneProgress::nothing_waits}));
    const std::uint64_t made = stretches_made();
    const std::uint64_t records_max = link_.records_max();
    progress.runs_left =
        std::min(records_max - std::min(records_max, made),
                 limits::backlog_runs_max - std::min(limits::backlog_runs_max, waiting_.size() - first_));
    return progress;
}

std::uint64_t Lane::stretches_made() const noexcept {
    return link_.put_count() + (waiting_.size() - first_) + (outbox_.backlog().empty() ? 0 : 1);
}

void Lane::await_room(std::uint64_t oldest) noexcept {
    link_.await_room(std::max<std::uint64_t>(oldest, 1), stretches_made() + 1);
}

}  // namespace telegate
