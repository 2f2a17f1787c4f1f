#include "durable/log_buffer.hpp"

#include "core/clock.hpp"

#include <poll.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace telegate {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t queue_blocks_first = 16;

/// Waits until the descriptor is readable or the time has come. May return earlier.
void poll_until(int descriptor, const std::optional<Steady::time_point>& until) noexcept {
    pollfd entry{descriptor, POLLIN, 0};
    timespec left{};
    if (until) {
        left = to_timespec(std::max(Duration(*until - Steady::now()), Duration::zero()));
    }
    ::ppoll(&entry, 1, until ? &left : nullptr, nullptr);
}

}  // namespace

void LostRanges::add(const store::LogGap& gap) noexcept {
    const std::size_t index = to_index(gap.channel);
    if (index >= index_.size()) {
        index_.resize(index + 1);
    }
    if (index_[index] == 0) {
        gaps_.push_back(gap);
        index_[index] = static_cast<std::uint32_t>(gaps_.size());
        return;
    }
    store::LogGap& known = gaps_[index_[index] - 1];
    known.last_seq = gap.last_seq;
    known.reason = known.reason == gap.reason ? gap.reason : store::GapReason::log_slow;
}

void LostRanges::clear() noexcept {
    for (const store::LogGap& gap : gaps_) {
        index_[to_index(gap.channel)] = 0;
    }
    gaps_.clear();
    samples_ = 0;
    skipped_ = 0;
}

LogBuffer::LogBuffer(std::function<void()> wake_producer, std::size_t capacity)
    : wake_producer_(std::move(wake_producer)), capacity_(capacity), queue_(capacity, queue_blocks_first) {
    run_.reserve(entries_chunk);
}

void LogBuffer::put(std::span<const TelemetrySample> samples) noexcept {
    if (is_closed_.load(std::memory_order_relaxed)) {
        return;
    }
    offered_.fetch_add(samples.size(), std::memory_order_relaxed);
    flush();
    while (!samples.empty()) {
        const auto chunk = samples.first(std::min(samples.size(), added_.size()));
        std::copy(chunk.begin(), chunk.end(), added_.begin());
        const std::size_t count = put_entries(std::span(added_).first(chunk.size()));
        if (count < chunk.size()) {
            lose(samples.subspan(count));
            break;
        }
        samples = samples.subspan(count);
    }
    wake_if_due();
}

void LogBuffer::put_gap(const store::LogGap& gap) noexcept {
    if (is_closed_.load(std::memory_order_relaxed)) {
        return;
    }
    flush();
    const Entry entry(gap);
    if (put_entries(std::span(&entry, 1)) == 0) {
        lose(gap);
    }
    wake_if_due();
}

void LogBuffer::skip(std::uint64_t samples) noexcept {
    if (is_closed_.load(std::memory_order_relaxed)) {
        return;
    }
    flush();
    const Entry entry(Skip{samples});
    if (put_entries(std::span(&entry, 1)) == 0) {
        is_losing_.store(true);  // to keep the order
        losing_.skip(samples);
    }
    wake_if_due();
}

/// Returns how many were added.
std::size_t LogBuffer::put_entries(std::span<const Entry> entries) noexcept {
    return is_losing_.load(std::memory_order_relaxed) ? 0 : queue_.put(entries, capacity_);
}

void LogBuffer::lose(std::span<const TelemetrySample> samples) noexcept {
    for (const TelemetrySample& sample : samples) {
        lose({sample.channel, sample.seq, sample.seq, store::GapReason::log_slow});
    }
    losing_.count_samples(samples.size());
    lost_.fetch_add(samples.size(), std::memory_order_relaxed);
}

void LogBuffer::lose(const store::LogGap& gap) noexcept {
    is_losing_.store(true);
    losing_.add(gap);
}

void LogBuffer::flush() noexcept {
    if (!is_losing_.load(std::memory_order_relaxed) || queue_.size() > capacity_ / 2 ||
        is_reported_.load(std::memory_order_acquire)) {
        return;
    }
    std::swap(losing_, reported_);
    is_reported_.store(true, std::memory_order_release);
    const Entry entry{Losses{}};
    queue_.put(std::span(&entry, 1), capacity_);  // has space, see above
    is_losing_.store(false);
    wake_if_due();
}

/// The fence is paired with that of wait_for_entries(): either this thread sees `wake_at_`, or the other one sees the
/// entries.
void LogBuffer::wake_if_due() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (queue_.size() >= wake_at_.load(std::memory_order_relaxed)) {
        waker_.wake();
    }
}

void LogBuffer::request_call() noexcept {
    is_call_wanted_.store(true);
    if (wake_at_.load() != never) {
        waker_.wake();
    }
}

/// Waits until this many entries are pending, the buffer is closed or hurry() was called. Returns false if that takes
/// too long, or if a call is wanted and `ends_for_call`.
bool LogBuffer::wait_for_entries(std::size_t count, const Deadline& until, bool ends_for_call) {
    const auto is_over = [&] {
        const std::size_t pending = queue_.size();
        return pending >= count || is_closed_.load() || (pending > 0 && is_urgent_.load());
    };
    for (;;) {
        wake_at_.store(is_urgent_.load() ? 1 : count, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        const bool is_done = is_over();
        if (is_done || (ends_for_call && is_call_wanted_.load()) || (until && Steady::now() >= *until)) {
            wake_at_.store(never, std::memory_order_relaxed);
            return is_done;
        }
        poll_until(waker_.descriptor(), until);
        waker_.clear();
    }
}

/// Waits for the first entry. Returns false if that takes too long.
bool LogBuffer::wait_for_first(const std::function<void()>& on_pending, const Deadline& until) {
    while (!wait_for_entries(1, until, true)) {
        if (!is_call_wanted_.exchange(false)) {
            return false;
        }
        if (!on_pending) {
            continue;
        }
        on_pending();
        const Steady::time_point next = Steady::now() + call_interval;
        if (wait_for_entries(1, until ? std::min(*until, next) : next)) {
            return true;
        }
    }
    return true;
}

bool LogBuffer::is_due() const noexcept {
    return is_closed_.load() || is_urgent_.load() || queue_.size() >= entries_pending_max;
}

void LogBuffer::wait_for_more(const std::function<void()>& on_pending, Steady::time_point until) {
    while (on_pending && !is_due() && Steady::now() < until) {
        const std::size_t pending = queue_.size();
        on_pending();
        wait_for_entries(entries_pending_max, std::min(until, Steady::now() + call_interval));
        wait_for_entries(std::min(pending + 1, entries_pending_max), until);
    }
    wait_for_entries(entries_pending_max, until);
}

bool LogBuffer::wait_for_load(std::optional<std::chrono::milliseconds> idle_max,
                              const std::function<void()>& on_pending, std::chrono::milliseconds delay_max) {
    if (!wait_for_first(on_pending, idle_max ? Deadline(Steady::now() + *idle_max) : std::nullopt)) {
        return true;
    }
    wait_for_more(on_pending, Steady::now() + delay_max);
    is_urgent_.exchange(false);  // not a store: the drain that follows sees the entries before the last hurry()
    // Losses that were not added to the queue are passed on by the last drain().
    return !is_closed_.load(std::memory_order_acquire) || !queue_.is_empty() || is_losing_.load();
}

/// Lets the I/O thread report its losses if nothing else arrives. The fence is paired with that of wake_if_due():
/// either this thread sees the losses, or flush() sees the free capacity. close() may have been called during the
/// drain, so that only the next one is the last.
void LogBuffer::end_drain(bool is_last) noexcept {
    if (is_last) {
        is_losing_.store(false);
        return;
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (is_losing_.load() && wake_producer_) {
        wake_producer_();
    }
}

void LogBuffer::hurry() noexcept {
    is_urgent_.store(true);
    waker_.wake();
}

bool LogBuffer::wait(std::chrono::milliseconds time) {
    const Deadline until = Steady::now() + time;
    while (!is_closed_.load() && Steady::now() < *until) {
        poll_until(waker_.descriptor(), until);
        waker_.clear();
    }
    return !is_closed_.load();
}

void LogBuffer::close() noexcept {
    is_closed_.store(true);
    waker_.wake();
}

}  // namespace telegate
