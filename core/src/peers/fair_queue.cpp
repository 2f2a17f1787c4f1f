#include "peers/fair_queue.hpp"

#include "reactor/deadline.hpp"

#include <algorithm>

namespace telegate {

FairQueue::FairQueue(Reactor& reactor, std::function<void(MessageBatch&)> filter)
    : reactor_(reactor), filter_(std::move(filter)), late_handler_(reactor, [this] { notify(); }) {}

void FairQueue::add(Session& session) {
    for (Held& held : held_) {
        if (held.session == &session) {
            held.is_readable = true;
            return;
        }
    }
    for (Paused& paused : paused_) {
        if (paused.session == &session) {
            paused.is_readable = true;
            return;
        }
    }
    const bool was_empty = ready_.empty();
    queue(session);
    if (was_empty) {
        notify();
    }
}

void FairQueue::queue(Session& session) noexcept {
    if (std::find(ready_.begin(), ready_.end(), &session) == ready_.end()) {
        ready_.push_back(&session);
    }
}

void FairQueue::hold(Session& session, const Session& older) {
    held_.push_back({&session, &older});
    session.set_held(true);
}

void FairQueue::pause(Session& session) {
    const auto is_it = [&](const Paused& paused) {
        return paused.session == &session;
    };
    if (std::none_of(paused_.begin(), paused_.end(), is_it)) {
        paused_.push_back({&session, std::erase(ready_, &session) > 0});
    }
}

void FairQueue::resume(const Session& session) {
    const auto found =
        std::find_if(paused_.begin(), paused_.end(), [&](const Paused& paused) { return paused.session == &session; });
    if (found == paused_.end()) {
        return;
    }
    const Paused resumed = *found;
    paused_.erase(found);
    if (resumed.is_readable) {
        queue(*resumed.session);
        notify_later();
    }
}

/// Returns true if there is more to receive now.
bool FairQueue::release(const Session& older) {
    const auto found = std::find_if(held_.begin(), held_.end(), [&](const Held& held) { return held.older == &older; });
    if (found == held_.end()) {
        return false;
    }
    const Held released = *found;
    held_.erase(found);
    released.session->set_held(false);
    if (released.is_readable) {
        queue(*released.session);
    }
    return released.is_readable;
}

void FairQueue::remove(const Session& session) {
    std::erase(ready_, &session);
    std::erase_if(paused_, [&](const Paused& paused) { return paused.session == &session; });
    const auto own =
        std::find_if(held_.begin(), held_.end(), [&](const Held& held) { return held.session == &session; });
    if (own != held_.end()) {
        const Session* const older = own->older;
        held_.erase(own);
        for (Held& held : held_) {
            // Sessions that waited for it now wait for the older one.
            held.older = held.older == &session ? older : held.older;
        }
    } else if (release(session)) {
        notify_later();  // not from here: this may be within receive()
    }
}

void FairQueue::notify_later() {
    late_handler_.set(std::chrono::milliseconds(0));
}

void FairQueue::set_on_readable(std::function<void()> handler) {
    on_readable_ = handler ? std::make_shared<const std::function<void()>>(std::move(handler)) : nullptr;
    if (on_readable_ != nullptr && !ready_.empty()) {
        notify_later();
    }
}

void FairQueue::notify() {
    const auto handler = on_readable_;
    if (handler == nullptr || ready_.empty()) {
        return;
    }
    try {
        (*handler)();
    } catch (...) {
        notify_later();  // the handler may have received nothing
        throw;
    }
}

bool FairQueue::receive(MessageBatch& batch) {
    batch.clear();
    if (receiving_) {
        notify_later();
        return false;
    }
    receiving_ = true;
    try {
        const bool any = fill(batch);
        receiving_ = false;
        return any;
    } catch (...) {
        receiving_ = false;
        throw;
    }
}

bool FairQueue::fill(MessageBatch& batch) {
    while (!ready_.empty()) {
        Session& session = *ready_.front();
        ready_.erase(ready_.begin());
        const Session::ReceiveStatus status = session.receive(batch);
        if (!held_.empty() && session.is_caught_up()) {
            (void)release(session);
        }
        if (batch.empty()) {
            continue;
        }
        // Remaining data waits behind the other sessions. A session that has no data left, or has used its budget,
        // reports again that it is readable.
        if (status == Session::ReceiveStatus::more && session.state() != Session::State::closed) {
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
    const auto deadline = deadline_in(time);
    while (!receive(batch)) {
        const bool has_turned = reactor_.run_until(deadline);
        if (!has_turned || std::chrono::steady_clock::now() >= deadline) {  // or the reactor was stopped
            return receive(batch);
        }
    }
    return true;
}

}  // namespace telegate
