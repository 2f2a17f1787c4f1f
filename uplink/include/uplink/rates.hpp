#pragma once

#include "uplink/delivery.hpp"

#include "core/clock.hpp"
#include "store/segment_format.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace telegate::uplink {

/// Limits a rate. A second's worth of tokens is saved; taking more than there are delays the next ones.
///
/// Threads: one. Limits: none. Failure: none.
class TokenBucket {
  public:
    /// Adds the tokens since the last call. A rate of 0 means no limit.
    void refill(MonoTime now, double rate) noexcept;
    /// Whether there are this many tokens, or all that there can be.
    [[nodiscard]] bool has_tokens(double wanted = 0) const noexcept {
        return rate_ <= 0 || (tokens_ > 0 && tokens_ >= std::min(wanted, rate_));
    }
    void consume(double tokens) noexcept { tokens_ -= tokens; }
    /// Returns when has_tokens() is true.
    [[nodiscard]] MonoTime due(double wanted = 0) const noexcept;

  private:
    double rate_ = 0;  // per second
    double tokens_ = 0;
    MonoTime filled_at_{};
};

/// Limits the rates at which samples, and entries of the log, are sent.
///
/// Threads: one. Limits: none. Failure: none.
class SendingRates {
  public:
    /// `samples` and `entries`: per second; 0 means no limit.
    void refill(MonoTime now, double samples, double entries) noexcept;
    /// Returns when a message may be sent, or a time that has passed. New samples may use tokens in advance; the
    /// backlog may not, because new samples would then wait.
    [[nodiscard]] MonoTime due(const OutgoingMessage& message) const noexcept;
    void consume(const OutgoingMessage& message) noexcept;

  private:
    TokenBucket samples_;
    TokenBucket entries_;
};

/// Measures how fast the log grows and how fast it is delivered, in positions per second: the averages of about
/// `average` before.
///
/// Threads: one. Limits: none. Failure: none.
class Progress {
  public:
    static constexpr std::chrono::seconds interval{1};
    static constexpr std::chrono::seconds average{10};

    void record(MonoTime now, store::Position synced, store::Position settled) noexcept;

    [[nodiscard]] double live_rate() const noexcept { return live_rate_; }
    /// Returns how long it takes to deliver what is synced, if nothing changes; nullopt: for ever.
    [[nodiscard]] std::optional<std::chrono::seconds> catch_up_time() const noexcept;

  private:
    MonoTime recorded_at_{};  // the start: nothing was recorded
    store::Position synced_ = 0;
    store::Position settled_ = 0;
    double live_rate_ = 0;
    double delivery_rate_ = 0;
};

}  // namespace telegate::uplink
