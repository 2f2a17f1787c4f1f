#include "publish/subscription_reader.hpp"

#include "zmtp/frame.hpp"

namespace telegate {

void SubscriptionReader::read(Session& session) {
    batch_.clear();
    absorbed_ = 0;
    (void)session.receive(batch_);  // the session reports again when it is readable
    absorb(session);
    batch_.clear();
}

void SubscriptionReader::command(Session& session, const zmtp::Command& command) {
    absorb(session);  // the messages received before the command
    change(session, zmtp::subscription_of(command));
}

/// Applies the messages of the batch: each frame is one subscription, and other frames are ignored.
void SubscriptionReader::absorb(Session& session) {
    for (; absorbed_ < batch_.size(); ++absorbed_) {
        for (const Bytes frame : batch_[absorbed_]) {
            change(session, zmtp::parse_subscription(zmtp::Frame{0, frame}));
        }
    }
}

void SubscriptionReader::change(Session& session, const std::optional<zmtp::Subscription>& subscription) {
    if (subscription && session.state() == Session::State::open) {
        on_change_(session, *subscription);
    }
}

}  // namespace telegate
