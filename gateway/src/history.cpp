#include "history.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
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

using Words = std::array<std::uint64_t, sizeof(TelemetrySample) / sizeof(std::uint64_t)>;

/// Without a loop, which would cost more than the words.
/// Release: whoever reads a new word sees the claim too. It costs nothing beside a plain store on x86.
template <std::size_t... i>
void store(const Words& words, std::uint64_t* to, std::index_sequence<i...> /*all*/) noexcept {
    (std::atomic_ref(to[i]).store(words[i], std::memory_order_release), ...);
}

}  // namespace

History::History(std::size_t bytes)
    : capacity_(std::max<std::size_t>(1, bytes / sizeof(TelemetrySample))),
      words_(map(capacity_ * sizeof(TelemetrySample))) {}

History::~History() {
    ::munmap(words_, capacity_ * sizeof(TelemetrySample));
}

void History::write(std::span<const TelemetrySample> samples) noexcept {
    const std::uint64_t end = claimed_.load(std::memory_order_relaxed) + samples.size();
    claimed_.store(end, std::memory_order_relaxed);
    for (const TelemetrySample& sample : samples) {
        store(std::bit_cast<Words>(sample), words_ + slot_ * words_per_sample,
              std::make_index_sequence<words_per_sample>{});
        slot_ = slot_ + 1 == capacity_ ? 0 : slot_ + 1;
    }
    written_.store(end, std::memory_order_release);
}

std::uint64_t History::oldest() const noexcept {
    const std::uint64_t claimed = claimed_.load(std::memory_order_acquire);
    return claimed - std::min<std::uint64_t>(claimed, capacity_);
}

History::Read History::read(std::uint64_t position, std::span<TelemetrySample> out) const noexcept {
    const std::uint64_t end = this->position();
    if (position >= end) {
        return {0, position, 0};
    }
    const std::uint64_t begin = std::max(position, end - std::min<std::uint64_t>(end, capacity_));
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
