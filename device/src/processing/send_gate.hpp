#pragma once

#include "device/processing.hpp"
#include "processing/reading.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace telegate::processing {

/// Applies deadband and rate limit: decides whether a reading is new enough to be sent. A reading whose quality differs
/// from the last sent one is always sent.
///
/// Threads: one.
/// Limits: no allocation. If time runs back by more than a configured time, that time counts as passed.
/// Failure: none.
class SendGate {
  public:
    explicit SendGate(const ChannelProcessing& processing) noexcept
        : deadband_(processing.deadband),
          deadband_share_(processing.deadband_percent * percent),
          silence_ns_(processing.send_interval_max.count()),
          interval_ns_(processing.send_interval_min.count()),
          early_ns_(interval_ns_ / early_share),
          has_deadband_(deadband_ > 0.0 || deadband_share_ > 0.0) {}

    /// Continues from what another gate has sent, with this gate's rules.
    void continue_from(const SendGate& before) noexcept {
        sent_value_ = before.sent_value_;
        sent_ns_ = before.sent_ns_;
        due_ns_ = before.due_ns_;
        has_sent_ = before.has_sent_;
        has_sent_value_ = before.has_sent_value_;
        sent_quality_ = before.sent_quality_;
    }

    [[nodiscard]] bool is_open() const noexcept { return !has_deadband_ && interval_ns_ == 0; }

    /// Returns why the reading is not sent; nullopt if it is sent. The deadband does not apply to texts and booleans.
    [[nodiscard]] std::optional<FilterReason> holds_back(const Reading& reading, ReadingKind kind) const noexcept {
        if (!has_sent_ || reading.quality != sent_quality_) {
            return std::nullopt;
        }
        if (has_deadband_ && kind == ReadingKind::number && is_same(reading) && !is_silent(reading.time_ns)) {
            return FilterReason::deadband;
        }
        if (interval_ns_ > 0 && !is_due(reading.time_ns)) {
            return FilterReason::rate_limit;
        }
        return std::nullopt;
    }

    /// Records that the reading was passed and is sent with the quality `sent_as`.
    void sent(const Reading& reading, Quality sent_as) noexcept {
        if (reading.counts()) {
            sent_value_ = reading.value;
            has_sent_value_ = true;
        }
        if (interval_ns_ > 0) {
            // A reading at its due time keeps the grid.
            const bool on_time = has_sent_ && std::abs(due_ns_ - reading.time_ns) <= early_ns_;
            due_ns_ = (on_time ? due_ns_ : reading.time_ns) + interval_ns_;
        }
        sent_ns_ = reading.time_ns;
        sent_quality_ = sent_as;
        has_sent_ = true;
    }

  private:
    static constexpr double percent = 0.01;

    /// A reading without a value counts as unchanged.
    [[nodiscard]] bool is_same(const Reading& reading) const noexcept {
        if (!reading.counts()) {
            return true;
        }
        const double band = std::max(deadband_, deadband_share_ * std::fabs(sent_value_));
        return has_sent_value_ && std::fabs(reading.value - sent_value_) <= band;
    }
    [[nodiscard]] bool is_silent(std::int64_t now_ns) const noexcept {
        const std::int64_t silence = now_ns - sent_ns_;
        return silence_ns_ > 0 && (silence >= silence_ns_ - silence_ns_ / early_share || silence < -silence_ns_);
    }
    [[nodiscard]] bool is_due(std::int64_t now_ns) const noexcept {
        const std::int64_t wait = due_ns_ - now_ns;
        return wait <= early_ns_ || wait > interval_ns_ + early_ns_;
    }

    double deadband_;
    double deadband_share_;
    std::int64_t silence_ns_;
    std::int64_t interval_ns_;
    std::int64_t early_ns_;
    double sent_value_ = 0.0;
    std::int64_t sent_ns_ = 0;
    std::int64_t due_ns_ = 0;  // used by the rate limit
    bool has_deadband_;
    bool has_sent_ = false;
    bool has_sent_value_ = false;
    Quality sent_quality_ = Quality::good;
};

}  // namespace telegate::processing
