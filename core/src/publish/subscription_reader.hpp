#pragma once

#include "core/message.hpp"
#include "session/session.hpp"
#include "zmtp/command.hpp"

#include <cstddef>
#include <functional>
#include <optional>

namespace telegate {

/// Hears what a publisher's peers subscribe to and cancel: by commands, or by messages, as older peers do, and XSUB
/// whatever its age.
///
/// Threads: the sessions'. Limits: one batch, see Session::take(). Failure: what `on_change` throws is passed on.
class SubscriptionReader {
  public:
    using OnChange = std::function<void(Session&, const zmtp::Subscription&)>;
    /// `on_change` hears of open sessions only.
    explicit SubscriptionReader(OnChange on_change) : on_change_(std::move(on_change)) {}

    /// The session has something to read.
    void read(Session& session);
    /// The session has read a command.
    void command(Session& session, const zmtp::Command& command);

  private:
    void absorb(Session& session);
    void change(Session& session, const std::optional<zmtp::Subscription>& subscription);

    const OnChange on_change_;
    MessageBatch batch_;
    std::size_t absorbed_ = 0;  // messages of the batch that were looked at
};

}  // namespace telegate
