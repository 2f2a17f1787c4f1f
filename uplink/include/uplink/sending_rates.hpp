#pragma once

#include "uplink/delivery.hpp"
#include "uplink/token_bucket.hpp"

#include "core/clock.hpp"

namespace telegate::uplink {

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
    void take(const OutgoingMessage& message) noexcept;

  private:
    TokenBucket samples_;
    TokenBucket entries_;
};

}  // namespace telegate::uplink
