#include "fair_queue.hpp"

#include <algorithm>

namespace telegate {

FairQueue::FairQueue(Reactor& reactor, std::function<void(MessageBatch&)> filter)
    : reactor_(reactor), filter_(std::move(filter)), late_handler_(reactor, [this] { tell(); }) {}

void FairQueue::add(Session& session) {
    for (Held& held : held_) {
        if (held.session == &session) {
            held.is_readable = true;
            return;
        }
    }
    const bool was_empty = ready_.empty();
    queue(session);
    if (was_empty) {
        tell();
    }
}

void FairQueue::queue(Session& session) {
    if (std::find(ready_.begin(), ready_.end(), &session) == ready_.end()) {
        ready_.push_back(&session);
    }
}

void FairQueue::hold(Session& session, const Session& older) {
    held_.push_back({&session, &older});
}

/// Whether there is more to take now.
bool FairQueue::release(const Session& older) {
    const auto found = std::find_if(held_.begin(), held_.end(), [&](const Held& held) { return held.older == &older; });
    if (found == held_.end()) {
        return false;
    }
    const Held released = *found;
    held_.erase(found);
    if (released.is_readable) {
        queue(*released.session);
    }
    return released.is_readable;
}

void FairQueue::remove(const Session& session) {
    std::erase(ready_, &session);
    std::erase_if(held_, [&](const Held& held) { return held.session == &session; });
    if (release(session)) {
        late_handler_.set(std::chrono::milliseconds(0));  // not from here, which may be within receive()
    }
}

void FairQueue::set_on_readable(std::function<void()> handler) {
    on_readable_ = handler ? std::make_shared<const std::function<void()>>(std::move(handler)) : nullptr;
    if (on_readable_ != nullptr && !ready_.empty()) {
        late_handler_.set(std::chrono::milliseconds(0));
    }
}

void FairQueue::tell() {
    if (const auto handler = on_readable_; handler != nullptr && !ready_.empty()) {
        (*handler)();
    }
}

bool FairQueue::receive(MessageBatch& batch) {
    batch.clear();
    while (!ready_.empty()) {
        Session& session = *ready_.front();
        ready_.erase(ready_.begin());
        const Session::TakeStatus status = session.take(batch);
        if (!held_.empty() && session.is_caught_up()) {
            (void)release(session);
        }
        if (batch.empty()) {
            continue;
        }
        // What it still has waits behind the others. With nothing left, or its share used up, it tells again by itself.
        if (status == Session::TakeStatus::more && session.state() != Session::State::closed) {
            queue(session);
        }
        if (filter_) {
            filter_(batch);
        }
        if (!batch.empty()) {
            batch.set_peer(session.identity());
            return true;
        }
    }
    return false;
}

bool FairQueue::receive_for(MessageBatch& batch, std::chrono::milliseconds time) {
    const auto deadline = std::chrono::steady_clock::now() + time;
    while (!receive(batch)) {
        const auto left = deadline - std::chrono::steady_clock::now();
        const auto wait = std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(0));
        const bool has_turned = reactor_.run_for(wait);
        if (!has_turned || wait.count() == 0) {  // the time is over, or the reactor has stopped
            return receive(batch);
        }
    }
    return true;
}

}  // namespace telegate
