#include "sampler_device.hpp"

#include "core/utf8.hpp"
#include "device/device_news.hpp"

#include <cstring>

// Transitions of a device are rare, so they are separate from the code of every reading.

namespace telegate {

void ErrorText::store(std::string_view text) noexcept {
    const std::size_t bytes = whole_characters_bytes(text, bytes_max);
    Words next{};
    std::memcpy(next.data(), text.data(), bytes);
    if (bytes == last_bytes_ && next == last_) {
        return;
    }
    last_ = next;
    last_bytes_ = bytes;
    lock_.begin();
    bytes_.store(bytes, std::memory_order_release);
    for (std::size_t i = 0; i < words; ++i) {
        words_[i].store(next[i], std::memory_order_release);
    }
    lock_.commit();
}

std::string ErrorText::load() const {
    return lock_.read([this] {
        Words copy{};
        const std::size_t bytes = bytes_.load(std::memory_order_acquire);
        for (std::size_t i = 0; i < words; ++i) {
            copy[i] = words_[i].load(std::memory_order_acquire);
        }
        return std::string(reinterpret_cast<const char*>(copy.data()), bytes);
    });
}

void Sampler::Device::record_failure(const ReadResult& result) noexcept {
    const bool has_failed = state.load(std::memory_order_relaxed) == DeviceState::measuring;
    if (has_failed) {
        begin_outage();
    }
    reads_failed.fetch_add(1, std::memory_order_relaxed);
    record_error(result.what);
    const std::uint64_t errors = consecutive_failures.load(std::memory_order_relaxed) + 1;
    consecutive_failures.store(errors, std::memory_order_relaxed);
    const bool was_open = breaker_state.load(std::memory_order_relaxed) == BreakerState::open;
    const MonoTime now = clock_.mono_now();
    if (own.load(std::memory_order_relaxed)) {
        breaker.record_failure(now);
        show_breaker();
    }
    const std::uint32_t most = errors_before_safe();
    const bool is_safe = most != 0 && errors >= most;
    enter(is_safe ? DeviceState::safe : DeviceState::error);
    if (has_failed) {
        report({.transition = DeviceTransition::failed}, result.what);
    }
    const std::uint64_t failed = reads_failed.load(std::memory_order_relaxed) - outage_.reads_failed;
    if (is_left_alone() && !was_open) {
        report({.transition = DeviceTransition::breaker_opened,
                .reads_failed = failed,
                .retry_after = breaker.retry_at() - now},
               result.what);
    }
    if (is_safe) {
        report({.transition = DeviceTransition::safe, .reads_failed = failed}, result.what);
    }
}

void Sampler::Device::begin_outage() noexcept {
    outages.fetch_add(1, std::memory_order_relaxed);
    // The bad samples of the reading that has just failed are already counted, and belong to the outage.
    outage_ = {clock_.mono_now(), reads_failed.load(std::memory_order_relaxed), reads_left_out(),
               samples_bad.load(std::memory_order_relaxed) - bad_in_read_};
}

void Sampler::Device::end_outage(bool breaker_was_open) const noexcept {
    const std::uint64_t left_out = reads_left_out() - outage_.reads_left_out;
    report({.transition = DeviceTransition::recovered,
            .outage = clock_.mono_now() - outage_.began,
            .reads_failed = reads_failed.load(std::memory_order_relaxed) - outage_.reads_failed,
            .samples_missed = samples_bad.load(std::memory_order_relaxed) - bad_in_read_ - outage_.samples_bad +
                              left_out * channels.load(std::memory_order_relaxed)},
           {});
    if (breaker_was_open) {
        report({.transition = DeviceTransition::breaker_closed}, {});
    }
}

void Sampler::Device::report(DeviceNews news, std::string_view why) const {
    if (observer_) {
        news.device = name;
        news.time_utc_ns = clock_.utc_now_ns();
        news.why = why;
        observer_(news);
    }
}

std::string_view to_string(DeviceState state) noexcept {
    switch (state) {
        case DeviceState::idle: return "idle";
        case DeviceState::measuring: return "measuring";
        case DeviceState::error: return "error";
        case DeviceState::safe: return "safe";
    }
    return "";
}

}  // namespace telegate
