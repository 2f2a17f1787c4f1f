#include "line/kept_samples.hpp"

#include "core/channel_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace telegate {
namespace {

constexpr std::size_t word_of(std::size_t byte) noexcept {
    return byte / sizeof(std::uint64_t);
}

constexpr std::size_t channel_word = word_of(offsetof(TelemetrySample, channel));
constexpr std::size_t seq_word = word_of(offsetof(TelemetrySample, seq));

/// Returns the channel from `channel_word` of a sample.
std::size_t channel_index(std::uint64_t word) noexcept {
    static_assert(offsetof(TelemetrySample, channel) % sizeof word == 0);
    ChannelId channel{};
    std::memcpy(&channel, &word, sizeof channel);
    return to_index(channel);
}

std::uint64_t load(std::uint64_t& word) noexcept {
    return std::atomic_ref(word).load(std::memory_order_acquire);
}

void store(std::uint64_t& word, std::uint64_t value) noexcept {
    std::atomic_ref(word).store(value, std::memory_order_release);
}

}  // namespace

KeptSamples::KeptSamples(std::size_t bytes, std::size_t per_channel)
    : capacity_(std::max<std::size_t>(1, bytes / bytes_per_sample)),
      per_channel_(per_channel),
      words_(capacity_ * words_per_sample),
      positions_(capacity_),
      channels_(ChannelTable::channels_max),
      unswept_(ChannelTable::channels_max),
      share_(per_channel) {}

void KeptSamples::sweep(const std::uint64_t* words, std::size_t samples, std::uint64_t position) noexcept {
    auto least = static_cast<std::uint32_t>(share());
    std::uint32_t usual = has_kept - least;
    std::uint32_t* const unswept = unswept_.data();
#pragma GCC unroll 4
    for (std::size_t i = 0; i < samples; ++i) {
        const std::uint64_t* const each = words + i * words_per_sample;
        const std::uint32_t left = --unswept[channel_index(each[channel_word])];
        if (left - least >= usual) [[unlikely]] {  // fewer than the share, or has_kept
            visit(each, position + i);
            least = static_cast<std::uint32_t>(share());
            usual = has_kept - least;
        }
    }
}

void KeptSamples::visit(const std::uint64_t* words, std::uint64_t position) noexcept {
    const std::size_t channel = channel_index(words[channel_word]);
    if (unswept(channel) < share() && count_.load(std::memory_order_relaxed) == capacity_) {
        compact();
    }
    if (unswept(channel) < share() && count_.load(std::memory_order_relaxed) < capacity_) {
        keep(words, position);
    } else {
        forget(channel, words[seq_word] + 1);
    }
}

void KeptSamples::keep(const std::uint64_t* words, std::uint64_t position) noexcept {
    const std::size_t index = count_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < words_per_sample; ++i) {
        store(words_[index * words_per_sample + i], words[i]);
    }
    store(positions_[index], position);
    const std::size_t channel = channel_index(words[channel_word]);
    set_kept(channel, channels_[channel].kept + 1);
    set_count(index + 1);
    held_.store(held() + 1, std::memory_order_relaxed);
}

void KeptSamples::forget(std::size_t channel, std::uint64_t before_seq) noexcept {
    held_.store(held() - channels_[channel].kept, std::memory_order_relaxed);
    set_kept(channel, 0);
    store(channels_[channel].first_seq, before_seq);
}

void KeptSamples::set_kept(std::size_t channel, std::size_t kept) noexcept {
    channels_[channel].kept = kept;
    unswept_[channel] = unswept(channel) | (kept > 0 ? has_kept : 0);
}

/// Leaves a quarter of the capacity free, so that the next call is not soon. A share that was just reduced is not
/// increased in the same call.
void KeptSamples::compact() noexcept {
    const std::size_t wanted = capacity_ - (capacity_ + 3) / 4;
    const std::size_t before = share();
    std::size_t share = before;
    lock_.begin();
    std::size_t left = drop_beyond(share);
    while (left > wanted && share > 1) {
        share /= 2;
        left = drop_beyond(share);
    }
    if (left > wanted) {
        drop_oldest(left - wanted);
    }
    lock_.commit();
    if (share == before && left <= capacity_ / 4) {
        share = std::min(per_channel_, share * 2);
    }
    share_.store(share, std::memory_order_relaxed);
}

/// Keeps of each channel the samples it needs to have `share` samples together with those in the history. Returns how
/// many remain.
std::size_t KeptSamples::drop_beyond(std::size_t share) noexcept {
    const std::size_t count = count_.load(std::memory_order_relaxed);
    std::size_t left = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t channel = channel_at(i);
        if (!is_given_out(i)) {
            continue;
        }
        const std::size_t after = channels_[channel].kept - 1;
        set_kept(channel, after);
        if (unswept(channel) + after < share) {
            move(i, left++);
        }
    }
    for (std::size_t i = 0; i < left; ++i) {
        set_kept(channel_at(i), channels_[channel_at(i)].kept + 1);
    }
    set_count(left);
    held_.store(left, std::memory_order_relaxed);
    return left;
}

void KeptSamples::drop_oldest(std::size_t samples) noexcept {
    const std::size_t count = count_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < count; ++i) {
        if (i < samples) {
            set_kept(channel_at(i), channels_[channel_at(i)].kept - 1);
        } else {
            move(i, i - samples);
        }
    }
    set_count(count - samples);
    held_.store(count - samples, std::memory_order_relaxed);
}

void KeptSamples::move(std::size_t from, std::size_t to) noexcept {
    if (from == to) {
        return;
    }
    for (std::size_t i = 0; i < words_per_sample; ++i) {
        store(words_[to * words_per_sample + i], words_[from * words_per_sample + i]);
    }
    store(positions_[to], positions_[from]);
}

void KeptSamples::set_count(std::size_t count) noexcept {
    count_.store(count, std::memory_order_release);
}

std::uint64_t KeptSamples::position_at(std::size_t index) const noexcept {
    return load(positions_[index]);
}

std::uint64_t KeptSamples::word_at(std::size_t index, std::size_t byte) const noexcept {
    return load(words_[index * words_per_sample + word_of(byte)]);
}

/// While samples are moved, the result may be the channel of another sample, but it is always a valid one.
std::size_t KeptSamples::channel_at(std::size_t index) const noexcept {
    return channel_index(word_at(index, offsetof(TelemetrySample, channel)));
}

bool KeptSamples::is_given_out(std::size_t index) const noexcept {
    return word_at(index, offsetof(TelemetrySample, seq)) >= load(channels_[channel_at(index)].first_seq);
}

std::size_t KeptSamples::first_index(const Range& range, std::size_t count) const noexcept {
    const std::size_t index =
        first_where(std::size_t{0}, count, [&](std::size_t each) { return position_at(each) >= range.from; });
    if (range.since_mono_ns == Range().since_mono_ns) {
        return index;
    }
    return first_where(index, count, [&](std::size_t each) {
        return static_cast<std::int64_t>(word_at(each, offsetof(TelemetrySample, time_mono_ns))) >= range.since_mono_ns;
    });
}

KeptSamples::Run KeptSamples::read(const Range& range, std::span<TelemetrySample> out) const noexcept {
    return lock_.read([&]() noexcept {
        const std::size_t count = count_.load(std::memory_order_acquire);
        std::size_t index = first_index(range, count);
        while (index < count && !is_given_out(index)) {
            ++index;
        }
        Run run{index < count ? position_at(index) : range.end, 0};
        const auto is_next = [&] {
            const std::uint64_t position = run.position + run.count;
            return index < count && position < range.end && position_at(index) == position && is_given_out(index);
        };
        for (; run.count < out.size() && is_next(); ++run.count, ++index) {
            std::array<std::uint64_t, words_per_sample> words;
            for (std::size_t i = 0; i < words_per_sample; ++i) {
                words[i] = load(words_[index * words_per_sample + i]);
            }
            std::memcpy(&out[run.count], words.data(), sizeof words);
        }
        return run;
    });
}

std::optional<std::uint64_t> KeptSamples::position_from(std::size_t index, std::uint64_t end,
                                                        std::size_t count) const noexcept {
    while (index < count && !is_given_out(index)) {
        ++index;
    }
    const std::uint64_t position = index < count ? position_at(index) : end;
    return position < end ? std::optional(position) : std::nullopt;
}

std::optional<std::uint64_t> KeptSamples::first(const Range& range) const noexcept {
    return lock_.read([&]() noexcept {
        const std::size_t count = count_.load(std::memory_order_acquire);
        return position_from(first_index(range, count), range.end, count);
    });
}

std::optional<std::uint64_t> KeptSamples::first_since_utc(const Range& range, std::int64_t time_utc_ns) const noexcept {
    return lock_.read([&]() noexcept {
        const std::size_t count = count_.load(std::memory_order_acquire);
        const std::size_t index = first_where_unsorted(first_index(range, count), count, [&](std::size_t each) {
            return static_cast<std::int64_t>(word_at(each, offsetof(TelemetrySample, time_utc_ns))) >= time_utc_ns;
        });
        return position_from(index, range.end, count);
    });
}

}  // namespace telegate
