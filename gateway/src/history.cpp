#include "history.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace telegate {
namespace {

std::uint64_t* map(std::size_t bytes) {
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::bad_alloc();
    }
    return static_cast<std::uint64_t*>(memory);
}

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

/// Word by word, and without a loop, which would cost more than the words.
/// Release: whoever reads a new word sees the claim too. It costs nothing beside a plain store on x86.
template <std::size_t... i>
void store(const TelemetrySample& sample, std::uint64_t* to, std::index_sequence<i...> /*all*/) noexcept {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&sample);
    const auto store_word = [&](std::size_t word) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes + word * word_bytes, word_bytes);
        std::atomic_ref(to[word]).store(value, std::memory_order_release);
    };
    (store_word(i), ...);
}

const SystemClock system_clock;

/// The first position in [low, high) for which `holds`, after which it holds for all; `high` for none.
template <class Holds>
std::uint64_t first_where(std::uint64_t low, std::uint64_t high, const Holds& holds) {
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (holds(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

}  // namespace

History::History(std::size_t bytes, Duration age_max, const Clock* clock)
    : capacity_(std::max<std::size_t>(1, bytes / sizeof(TelemetrySample))),
      age_max_ns_(age_max.count()),
      clock_(clock != nullptr ? *clock : system_clock),
      words_(map(capacity_ * sizeof(TelemetrySample))) {}

History::~History() {
    ::munmap(words_, capacity_ * sizeof(TelemetrySample));
}

void History::write(std::span<const TelemetrySample> samples) noexcept {
    const std::uint64_t end = claimed_.load(std::memory_order_relaxed) + samples.size();
    claimed_.store(end, std::memory_order_relaxed);
    for (const TelemetrySample& sample : samples) {
        store(sample, words_ + slot_ * words_per_sample, std::make_index_sequence<words_per_sample>{});
        slot_ = slot_ + 1 == capacity_ ? 0 : slot_ + 1;
    }
    written_.store(end, std::memory_order_release);
}

std::uint64_t History::oldest() const noexcept {
    const std::uint64_t claimed = claimed_.load(std::memory_order_acquire);
    return first_young(claimed - std::min<std::uint64_t>(claimed, capacity_));
}

/// One time of a sample. Where that has been written over, it is a later one's.
std::int64_t History::word_at(std::uint64_t position, std::size_t byte) const noexcept {
    const std::size_t word = (position % capacity_) * words_per_sample + byte / sizeof(std::uint64_t);
    return static_cast<std::int64_t>(std::atomic_ref(words_[word]).load(std::memory_order_acquire));
}

/// From `held`, the oldest that is held, on. Mostly the answer is where it was the last time, or a little further.
std::uint64_t History::first_young(std::uint64_t held) const noexcept {
    if (age_max_ns_ == 0) {
        return held;
    }
    const std::uint64_t end = position();
    const std::int64_t since = to_ns(clock_.mono_now()) - age_max_ns_;
    const auto is_young = [&](std::uint64_t position) {
        return word_at(position, offsetof(TelemetrySample, time_mono_ns)) >= since;
    };
    const std::uint64_t known = young_.load(std::memory_order_relaxed);
    const std::uint64_t low = std::min(std::max(held, known), end);
    if (low == end || is_young(low)) {
        return low;
    }
    const std::uint64_t young = first_where(low + 1, end, is_young);
    young_.store(young, std::memory_order_relaxed);  // another reader's may be less: then somebody looks once more
    return young;
}

std::uint64_t History::first_since(MonoTime time) const noexcept {
    return first_where(oldest(), position(), [&](std::uint64_t position) {
        return word_at(position, offsetof(TelemetrySample, time_mono_ns)) >= to_ns(time);
    });
}

std::uint64_t History::first_since_utc(std::int64_t time_utc_ns) const noexcept {
    const auto is_since = [&](std::uint64_t position) {
        return word_at(position, offsetof(TelemetrySample, time_utc_ns)) >= time_utc_ns;
    };
    const std::uint64_t end = position();
    std::uint64_t low = std::min(oldest(), end);
    const std::uint64_t step = (end - low) / looks_max + 1;
    for (std::uint64_t look = low; look < end; look += step) {
        if (is_since(look)) {
            return first_where(low, look, is_since);
        }
        low = look + 1;
    }
    return first_where(low, end, is_since);
}

History::Read History::read(std::uint64_t position, std::span<TelemetrySample> out) const noexcept {
    const std::uint64_t end = this->position();
    if (position >= end) {
        return {0, position, 0};
    }
    const std::uint64_t begin =
        std::min(end, std::max(position, first_young(end - std::min<std::uint64_t>(end, capacity_))));
    const auto copied = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), end - begin));
    auto slot = static_cast<std::size_t>(begin % capacity_);
    for (TelemetrySample& sample : out.first(copied)) {
        std::array<std::uint64_t, words_per_sample> words;
        for (std::size_t i = 0; i < words_per_sample; ++i) {
            words[i] = std::atomic_ref(words_[slot * words_per_sample + i]).load(std::memory_order_acquire);
        }
        std::memcpy(&sample, words.data(), sizeof sample);
        slot = slot + 1 == capacity_ ? 0 : slot + 1;
    }
    // The acquiring loads keep this one behind them. What was claimed by then may be half old, half new.
    const std::uint64_t claimed = claimed_.load(std::memory_order_relaxed);
    const std::uint64_t whole_from = std::max(begin, claimed - std::min<std::uint64_t>(claimed, capacity_));
    const std::uint64_t next = std::max(begin + copied, whole_from);
    const std::uint64_t spoilt = std::min<std::uint64_t>(whole_from - begin, copied);
    std::copy(out.begin() + static_cast<std::ptrdiff_t>(spoilt), out.begin() + static_cast<std::ptrdiff_t>(copied),
              out.begin());
    return {static_cast<std::size_t>(copied - spoilt), next, next - (copied - spoilt) - position};
}

}  // namespace telegate
