#include "line/history_buffer.hpp"

#include "line/kept_samples.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

/// Stores word by word, without a loop, which would cost more than the stores. Release order: a reader that sees a new
/// word also sees the claim. On x86 it costs no more than a plain store.
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

constexpr std::size_t sweep_samples = 512;  // swept at a time, which takes a few microseconds

/// Returns the memory for samples of rarely published channels.
std::size_t kept_bytes(std::size_t bytes, std::size_t per_channel) {
    return per_channel == 0 ? 0 : bytes / 4;
}

}  // namespace

HistoryBuffer::HistoryBuffer(const HistoryLimits& limits, const Clock& clock)
    : capacity_(std::max<std::size_t>(
          1, (limits.bytes - kept_bytes(limits.bytes, limits.per_channel)) / sizeof(TelemetrySample))),
      age_max_ns_(limits.age_max.count()),
      clock_(clock),
      words_(capacity_ * words_per_sample) {
    if (limits.per_channel > 0) {
        kept_.emplace(kept_bytes(limits.bytes, limits.per_channel), limits.per_channel);
    }
}

/// Copies samples regardless of their age, because the limit may have been raised.
void HistoryBuffer::take_over(const HistoryBuffer& other) noexcept {
    const std::uint64_t end = other.position();
    const std::uint64_t held = other.first_held(end);
    std::array<TelemetrySample, sweep_samples> samples;
    if (kept_ && other.kept_) {
        for (std::uint64_t next = 0;;) {
            const KeptSamples::Run run = other.kept_->read({.from = next, .end = held}, samples);
            if (run.count == 0) {
                break;
            }
            keep(run.position, std::span(samples).first(run.count));
            next = run.position + run.count;
        }
    }
    begin_ = swept_ = held;
    slot_ = static_cast<std::size_t>(held % capacity_);
    claimed_.store(held, std::memory_order_relaxed);
    for (std::uint64_t next = held; next < end;) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(samples.size(), end - next));
        for (std::size_t i = 0; i < count; ++i) {
            samples[i] = other.sample_at(static_cast<std::size_t>((next + i) % other.capacity_));
        }
        consume(std::span(samples).first(count));
        next += count;
    }
    written_.store(end, std::memory_order_release);
}

/// Keeps samples that this buffer has never held.
void HistoryBuffer::keep(std::uint64_t position, std::span<const TelemetrySample> samples) noexcept {
    const auto count = kept_->counter();
    for (const TelemetrySample& sample : samples) {
        std::array<std::uint64_t, words_per_sample> words;
        std::memcpy(words.data(), &sample, sizeof sample);
        count(sample.channel);
        kept_->sweep(words.data(), 1, position++);
    }
}

void HistoryBuffer::consume(std::span<const TelemetrySample> samples) noexcept {
    while (!samples.empty()) {
        const auto run = samples.first(std::min(samples.size(), capacity_ - slot_));
        write_run(run);
        samples = samples.subspan(run.size());
    }
}

/// Writes up to the end of the buffer.
void HistoryBuffer::write_run(std::span<const TelemetrySample> samples) noexcept {
    const std::uint64_t end = claimed_.load(std::memory_order_relaxed) + samples.size();
    if (kept_) {
        sweep(end);
    }
    // a reader that sees the claim also sees the kept samples from before it
    claimed_.store(end, std::memory_order_release);
    std::uint64_t* to = words_.data() + slot_ * words_per_sample;
    const auto store_all = [&](const auto& note) {
        for (const TelemetrySample& sample : samples) {
            store(sample, to, std::make_index_sequence<words_per_sample>{});
            to += words_per_sample;
            note(sample.channel);
        }
    };
    if (kept_) {
        store_all(kept_->counter());
    } else {
        store_all([](ChannelId /*channel*/) {});
    }
    slot_ = slot_ + samples.size() == capacity_ ? 0 : slot_ + samples.size();
    written_.store(end, std::memory_order_release);
}

/// Called before samples up to `end` overwrite those one capacity earlier.
void HistoryBuffer::sweep(std::uint64_t end) noexcept {
    if (end <= swept_ + capacity_) {
        return;
    }
    const std::uint64_t written = claimed_.load(std::memory_order_relaxed);
    const std::uint64_t until = std::min(written, std::max(end - capacity_, swept_ + sweep_samples));
    while (swept_ < until) {
        const auto slot = static_cast<std::size_t>(swept_ % capacity_);
        const auto samples = static_cast<std::size_t>(std::min<std::uint64_t>(until - swept_, capacity_ - slot));
        kept_->sweep(words_.data() + slot * words_per_sample, samples, swept_);
        swept_ += samples;
    }
}

std::uint64_t HistoryBuffer::first_held(std::uint64_t claimed) const noexcept {
    return std::max(begin_, claimed - std::min<std::uint64_t>(claimed, capacity_));
}

std::uint64_t HistoryBuffer::oldest() const noexcept {
    return first_young(first_held(claimed_.load(std::memory_order_acquire)));
}

std::uint64_t HistoryBuffer::first() const noexcept {
    const std::uint64_t held = first_held(claimed_.load(std::memory_order_acquire));
    const auto kept = kept_ ? kept_->first({0, held, oldest_mono_ns()}) : std::nullopt;
    return kept ? *kept : first_young(held);
}

/// Returns a word of a sample, such as a timestamp. If the sample was overwritten, the word is from a later sample.
std::int64_t HistoryBuffer::word_at(std::uint64_t position, std::size_t byte) const noexcept {
    const std::size_t word =
        static_cast<std::size_t>(position % capacity_) * words_per_sample + byte / sizeof(std::uint64_t);
    return static_cast<std::int64_t>(std::atomic_ref(words_[word]).load(std::memory_order_acquire));
}

TelemetrySample HistoryBuffer::sample_at(std::size_t slot) const noexcept {
    std::array<std::uint64_t, words_per_sample> words;
    for (std::size_t i = 0; i < words_per_sample; ++i) {
        words[i] = std::atomic_ref(words_[slot * words_per_sample + i]).load(std::memory_order_acquire);
    }
    TelemetrySample sample;
    std::memcpy(&sample, words.data(), sizeof sample);
    return sample;
}

std::int64_t HistoryBuffer::oldest_mono_ns() const noexcept {
    return age_max_ns_ == 0 ? std::numeric_limits<std::int64_t>::min() : to_ns(clock_.mono_now()) - age_max_ns_;
}

/// Returns the first position, starting at `held`, the oldest position in memory, whose sample is not too old. Usually
/// it is the previous result or slightly later.
std::uint64_t HistoryBuffer::first_young(std::uint64_t held) const noexcept {
    if (age_max_ns_ == 0) {
        return held;
    }
    const std::uint64_t end = position();
    const std::int64_t since = oldest_mono_ns();
    const auto is_young = [&](std::uint64_t position) {
        return word_at(position, offsetof(TelemetrySample, time_mono_ns)) >= since;
    };
    const std::uint64_t known = young_.load(std::memory_order_relaxed);
    const std::uint64_t low = std::min(std::max(held, known), end);
    if (low == end || is_young(low)) {
        return low;
    }
    const std::uint64_t young = first_where(low + 1, end, is_young);
    // another reader may store a lower value, which costs one more search
    young_.store(young, std::memory_order_relaxed);
    return young;
}

std::uint64_t HistoryBuffer::first_since(MonoTime time) const noexcept {
    const std::uint64_t held = first_held(claimed_.load(std::memory_order_acquire));
    const auto kept = kept_ ? kept_->first({0, held, std::max(to_ns(time), oldest_mono_ns())}) : std::nullopt;
    return kept ? *kept : first_where(first_young(held), position(), [&](std::uint64_t position) {
        return word_at(position, offsetof(TelemetrySample, time_mono_ns)) >= to_ns(time);
    });
}

std::uint64_t HistoryBuffer::first_since_utc(std::int64_t time_utc_ns) const noexcept {
    const std::uint64_t held = first_held(claimed_.load(std::memory_order_acquire));
    const auto kept = kept_ ? kept_->first_since_utc({0, held, oldest_mono_ns()}, time_utc_ns) : std::nullopt;
    const std::uint64_t end = position();
    return kept ? *kept : first_where_unsorted(std::min(first_young(held), end), end, [&](std::uint64_t position) {
        return word_at(position, offsetof(TelemetrySample, time_utc_ns)) >= time_utc_ns;
    });
}

KeptSamples::Run HistoryBuffer::read_kept(std::uint64_t position, std::uint64_t end,
                                          std::span<TelemetrySample> out) const noexcept {
    if (!kept_ || position >= end) {
        return {};
    }
    return kept_->read({position, end, oldest_mono_ns()}, out);
}

HistoryRead HistoryBuffer::read(std::uint64_t position, std::span<TelemetrySample> out) const noexcept {
    const std::uint64_t end = this->position();
    if (position >= end) {
        return {0, position, 0};
    }
    const auto of_kept = [position](const KeptSamples::Run& run) {
        return HistoryRead{run.count, run.position + run.count, run.position - position};
    };
    if (const KeptSamples::Run run = read_kept(position, first_held(end), out); run.count > 0) {
        return of_kept(run);
    }
    const std::uint64_t begin = std::min(end, std::max(position, first_young(first_held(end))));
    const auto copied = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), end - begin));
    auto slot = static_cast<std::size_t>(begin % capacity_);
    for (TelemetrySample& sample : out.first(copied)) {
        sample = sample_at(slot);
        slot = slot + 1 == capacity_ ? 0 : slot + 1;
    }
    // The acquire loads above order this load after them. Samples claimed by now may be partly overwritten.
    const std::uint64_t whole_from = std::max(begin, first_held(claimed_.load(std::memory_order_acquire)));
    if (whole_from > begin) {
        if (const KeptSamples::Run run = read_kept(position, whole_from, out); run.count > 0) {
            return of_kept(run);
        }
    }
    const std::uint64_t next = std::max(begin + copied, whole_from);
    const std::uint64_t spoilt = std::min<std::uint64_t>(whole_from - begin, copied);
    std::copy(out.begin() + static_cast<std::ptrdiff_t>(spoilt), out.begin() + static_cast<std::ptrdiff_t>(copied),
              out.begin());
    return {static_cast<std::size_t>(copied - spoilt), next, next - (copied - spoilt) - position};
}

}  // namespace telegate
