#include "peers/remote_sessions.hpp"

#include <utility>

namespace telegate {

void RemoteSessions::add(std::uint64_t id, const std::string& address, RemoteSession session) {
    std::map<std::uint64_t, RemoteSession> added;  // allocates first, so that a failure leaves nothing to undo
    added.emplace(id, std::move(session));
    pending_.add({id, nullptr}, address);
    sessions_.merge(added);
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

void RemoteSessions::remove(std::uint64_t id) {
    end_handshake(id);
    sessions_.erase(id);
}

}  // namespace telegate
