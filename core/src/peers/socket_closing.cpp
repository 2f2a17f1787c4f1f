#include "peers/socket_closing.hpp"

#include "reactor/deadline.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

using std::chrono::milliseconds;

SocketClosing::SocketClosing(Reactor& reactor, std::function<void()> on_grace_end)
    : grace_alarm_(reactor, std::move(on_grace_end)), later_notify_(reactor, [this] { notify(); }) {}

bool SocketClosing::begin(std::function<void()> done) {
    if (done) {
        on_closed_.push_back(std::move(done));
    }
    return std::exchange(state_, State::closing) == State::open;
}

void SocketClosing::set_grace(milliseconds grace) {
    grace_end_ = std::min(grace_end_, deadline_in(grace));
    const auto left = std::chrono::ceil<milliseconds>(grace_end_ - std::chrono::steady_clock::now());
    grace_alarm_.set(std::max(left, milliseconds(0)));
}

void SocketClosing::finish() {
    later_notify_.schedule();  // first: schedule() may throw
    grace_alarm_.cancel();
}

/// Makes one call per event-loop iteration: it may destroy the socket, or throw.
void SocketClosing::notify() {
    if (on_closed_.empty()) {
        return;
    }
    const std::function<void()> done = std::move(on_closed_.front());
    on_closed_.erase(on_closed_.begin());
    if (!on_closed_.empty()) {
        later_notify_.schedule();
    }
    done();
}

}  // namespace telegate
