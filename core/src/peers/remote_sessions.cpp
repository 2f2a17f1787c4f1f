#include "peers/remote_sessions.hpp"

#include <utility>

namespace telegate {

void RemoteSessions::add(std::uint64_t id, RemoteSession session) {
    const auto address = addresses_.try_emplace(session.address).first;
    sessions_.emplace(id, std::move(session));
    ++address->second;
    ++pending_;
}

const RemoteSession* RemoteSessions::find(std::uint64_t id) const noexcept {
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? nullptr : &found->second;
}

void RemoteSessions::add_ids_of(std::string_view endpoint, std::vector<std::uint64_t>& ids) const {
    for (const auto& [id, session] : sessions_) {
        if (session.endpoint == endpoint) {
            ids.push_back(id);
        }
    }
}

void RemoteSessions::note_opened(std::uint64_t id) {
    if (const auto found = sessions_.find(id); found != sessions_.end()) {
        end_pending(found->second);
    }
}

void RemoteSessions::remove(std::uint64_t id) {
    if (const auto found = sessions_.find(id); found != sessions_.end()) {
        end_pending(found->second);
        sessions_.erase(found);
    }
}

void RemoteSessions::end_pending(RemoteSession& session) {
    if (!std::exchange(session.is_pending, false)) {
        return;
    }
    --pending_;
    const auto address = addresses_.find(session.address);
    if (--address->second == 0) {
        addresses_.erase(address);
    }
}

std::size_t RemoteSessions::pending_of(const std::string& address) const {
    const auto found = addresses_.find(address);
    return found == addresses_.end() ? 0 : found->second;
}

std::uint64_t RemoteSessions::oldest_pending() const noexcept {
    for (const auto& [id, session] : sessions_) {
        if (session.is_pending) {
            return id;
        }
    }
    return 0;
}

std::uint64_t RemoteSessions::oldest_pending_of(std::string_view address) const noexcept {
    for (const auto& [id, session] : sessions_) {
        if (session.is_pending && session.address == address) {
            return id;
        }
    }
    return 0;
}

}  // namespace telegate
