#pragma once

#include "core/message.hpp"
#include "session/session.hpp"
#include "zmtp/command.hpp"

#include <cstddef>
#include <functional>
#include <optional>

namespace telegate {

/// Reads what a publisher's peers subscribe to and cancel: by commands, or by messages, as older peers and every XSUB
/// do.
///
/// Threads: the sessions'. Limits: one batch, see Session::receive(). Failure: an exception of `on_change` is passed
/// on.
class SubscriptionReader {
  public:
    using OnChange = std::function<void(Session&, const zmtp::Subscription&)>;
    /// `on_change` is called for open sessions only.
    explicit SubscriptionReader(OnChange on_change) : on_change_(std::move(on_change)) {}

    /// Reads from a session that is readable.
    void read(Session& session);
    /// Handles a command that the session has read.
    void command(Session& session, const zmtp::Command& command);

  private:
    void absorb(Session& session);
    void change(Session& session, const std::optional<zmtp::Subscription>& subscription);

    const OnChange on_change_;
    MessageBatch batch_;
    std::size_t absorbed_ = 0;  // messages of the batch that were handled
};

}  // namespace telegate
