#include "peers/pending_handshakes.hpp"

namespace telegate {

void PendingHandshakes::add(const Handshake& handshake, const std::string& address) {
    auto& counted = *addresses_.try_emplace(address).first;  // first, so that a failure leaves nothing to undo
    handshakes_.emplace(handshake.id, Entry{handshake.session, &counted});
    ++counted.second;
}

void PendingHandshakes::remove(std::uint64_t id) {
    const auto found = handshakes_.find(id);
    if (found == handshakes_.end()) {
        return;
    }
    auto& counted = *found->second.address;
    handshakes_.erase(found);
    if (--counted.second == 0) {
        addresses_.erase(addresses_.find(counted.first));
    }
}

std::size_t PendingHandshakes::size_of(const std::string& address) const {
    const auto found = addresses_.find(address);
    return found == addresses_.end() ? 0 : found->second;
}

PendingHandshakes::Handshake PendingHandshakes::oldest(std::string_view address, bool only_here) const noexcept {
    for (const auto& [id, entry] : handshakes_) {
        if ((address.empty() || entry.address->first == address) && (entry.session != nullptr || !only_here)) {
            return {id, entry.session};
        }
    }
    return {};
}

}  // namespace telegate
