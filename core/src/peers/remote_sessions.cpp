#include "peers/remote_sessions.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

void RemoteSessions::add(std::uint64_t id, RemoteSession session) {
    places_.add({id, nullptr}, session.client);
    sessions_.emplace(id, std::move(session));
}

std::uint64_t RemoteSessions::newest_of(std::string_view client) const noexcept {
    const auto found = std::find_if(sessions_.rbegin(), sessions_.rend(),
                                    [&](const auto& each) { return each.second.client == client; });
    return found == sessions_.rend() ? 0 : found->first;
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
    if (const auto found = sessions_.find(id); found != sessions_.end()) {
        places_.remove(id, found->second.client);
        sessions_.erase(found);
    }
}

}  // namespace telegate
