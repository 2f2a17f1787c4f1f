#include "peers/pending_handshakes.hpp"

namespace telegate {

void PendingHandshakes::add(const Handshake& handshake, const std::string& client) {
    handshakes_.emplace(handshake.id, Entry{handshake.session, client});
    shares_.add(client);
}

void PendingHandshakes::remove(std::uint64_t id) {
    const auto found = handshakes_.find(id);
    if (found != handshakes_.end()) {
        shares_.remove(found->second.client);
        handshakes_.erase(found);
    }
}

PendingHandshakes::Handshake PendingHandshakes::oldest(std::string_view client, bool only_here) const noexcept {
    for (const auto& [id, entry] : handshakes_) {
        if ((client.empty() || entry.client == client) && (entry.session != nullptr || !only_here)) {
            return {id, entry.session};
        }
    }
    return {};
}

PendingHandshakes::Handshake PendingHandshakes::to_displace(const ClientShares& places, std::string_view client,
                                                            bool only_here) const noexcept {
    const bool others_yield = places.yields_to(client);
    return oldest(others_yield ? places.most().client : places.of(client) > 0 ? client : std::string_view(), only_here);
}

}  // namespace telegate
