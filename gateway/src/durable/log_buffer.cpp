#include "durable/log_buffer.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace telegate {

void LogLoad::clear() noexcept {
    samples.clear();
    gaps.clear();
    for (const ChannelId channel : lost_channels) {
        lost[to_index(channel)] = {};
    }
    lost_channels.clear();
    lost_samples = 0;
}

LogBuffer::LogBuffer() {
    filling_.samples.reserve(samples_max);
    filling_.gaps.reserve(gaps_max);
}

void LogBuffer::put(std::span<const TelemetrySample> samples) noexcept {
    const std::lock_guard lock(mutex_);
    if (closed_) {
        return;
    }
    const std::size_t before = filling_.samples.size();
    const std::size_t count = std::min(samples.size(), samples_max - before);
    filling_.samples.insert(filling_.samples.end(), samples.begin(),
                            samples.begin() + static_cast<std::ptrdiff_t>(count));
    for (const TelemetrySample& sample : samples.subspan(count)) {
        note_lost(sample.channel, sample.seq, sample.seq);
    }
    offered_ += samples.size();
    lost_ += samples.size() - count;
    filling_.lost_samples += samples.size() - count;
    tell_of(before);
}

void LogBuffer::put_gap(const store::LogGap& gap) noexcept {
    const std::lock_guard lock(mutex_);
    if (closed_) {
        return;
    }
    if (filling_.samples.size() == samples_max || filling_.gaps.size() == gaps_max) {
        note_lost(gap.channel, gap.first_seq, gap.last_seq);
    } else {
        filling_.gaps.push_back({static_cast<std::uint32_t>(filling_.samples.size()), gap});
    }
    wake_.notify_one();
}

/// Wakes the thread of the log for the first pending sample, and again when there are many.
void LogBuffer::tell_of(std::size_t samples_before) noexcept {
    const std::size_t now = filling_.samples.size();
    if ((samples_before == 0 && now > 0) || (samples_before < samples_pending_max && now >= samples_pending_max) ||
        std::exchange(waits_for_more_, false)) {
        wake_.notify_one();
    }
}

/// Requires that the caller holds the mutex.
void LogBuffer::note_lost(ChannelId channel, std::uint64_t first_seq, std::uint64_t last_seq) noexcept {
    const std::size_t index = to_index(channel);
    try {
        if (index >= filling_.lost.size()) {
            filling_.lost.resize(index + 1);
        }
        LogLoad::Lost& lost = filling_.lost[index];
        if (lost.first_seq == 0) {
            filling_.lost_channels.push_back(channel);
            lost.first_seq = first_seq;
        }
        lost.last_seq = last_seq;
    } catch (const std::bad_alloc&) {
        return;  // they are still counted
    }
}

bool LogBuffer::take(LogLoad& load, std::optional<std::chrono::milliseconds> idle_max,
                     const std::function<void()>& on_pending, std::chrono::milliseconds delay_max) {
    TELEGATE_ASSERT(load.empty());
    load.samples.reserve(samples_max);  // it becomes the buffer that is filled next
    load.gaps.reserve(gaps_max);
    std::unique_lock lock(mutex_);
    const auto has_work = [this] {
        return closed_ || !filling_.empty();
    };
    if (!idle_max) {
        wake_.wait(lock, has_work);
    } else if (!wake_.wait_for(lock, *idle_max, has_work)) {
        return true;
    }
    const auto is_due = [this] {
        return closed_ || is_urgent_ || filling_.samples.size() >= samples_pending_max;
    };
    const auto until = std::chrono::steady_clock::now() + delay_max;
    while (on_pending && !is_due() && std::chrono::steady_clock::now() < until) {
        const std::uint64_t offered = offered_;
        lock.unlock();
        on_pending();
        lock.lock();
        wake_.wait_for(lock, call_interval, is_due);
        waits_for_more_ = true;
        wake_.wait_until(lock, until, [&] { return is_due() || offered_ != offered; });
        waits_for_more_ = false;
    }
    wake_.wait_until(lock, until, is_due);
    is_urgent_ = false;
    std::swap(load, filling_);
    return !load.empty();
}

void LogBuffer::hurry() {
    const std::lock_guard lock(mutex_);
    is_urgent_ = true;
    wake_.notify_all();
}

bool LogBuffer::wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return !wake_.wait_for(lock, time, [this] { return closed_; });
}

void LogBuffer::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    wake_.notify_all();
}

std::uint64_t LogBuffer::lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
}

std::uint64_t LogBuffer::offered() const {
    const std::lock_guard lock(mutex_);
    return offered_;
}

}  // namespace telegate
