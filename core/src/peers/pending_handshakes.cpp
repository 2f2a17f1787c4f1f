#include "peers/pending_handshakes.hpp"

namespace telegate {

void PendingHandshakes::add(Session& session) {
    std::size_t& count = addresses_[session.address()];  // first, so that a failure leaves nothing to undo
    if (sessions_.emplace(session.id(), &session).second) {
        ++count;
    }
}

void PendingHandshakes::remove(const Session& session) {
    if (sessions_.erase(session.id()) == 0) {
        return;
    }
    const auto address = addresses_.find(session.address());
    if (--address->second == 0) {
        addresses_.erase(address);
    }
}

std::size_t PendingHandshakes::size_of(const std::string& address) const {
    const auto found = addresses_.find(address);
    return found == addresses_.end() ? 0 : found->second;
}

Session* PendingHandshakes::oldest() const noexcept {
    return sessions_.empty() ? nullptr : sessions_.begin()->second;
}

Session* PendingHandshakes::oldest_of(std::string_view address) const noexcept {
    for (const auto& [id, session] : sessions_) {
        if (session->address() == address) {
            return session;
        }
    }
    return nullptr;
}

}  // namespace telegate
