#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// Tracks which connection owns an identity: a peer that reconnects may take over the identity of its older connection.
///
/// Threads: one. Limits: one entry for each connection with an identity. Failure: std::bad_alloc.
class IdentityOwners {
  public:
    /// Records that the handshake of a connection has completed. The connection is not accepted yet.
    void record_handshake(const std::string& identity, std::uint64_t id) { arriving_.emplace(identity, id); }
    void record_left(const std::string& identity, std::uint64_t id);
    /// Records that the peer is writable. Returns whether this is the connection that has just arrived; replies to
    /// requests of its predecessor must not be sent to it.
    [[nodiscard]] bool take_arrival(std::string_view identity);
    /// Returns the connections whose identity has been taken over since the last call. Their requests must not be
    /// answered.
    [[nodiscard]] std::vector<std::uint64_t> take_superseded() noexcept { return std::exchange(superseded_, {}); }
    /// Removes identities for which `is_there` returns false.
    template <class IsThere>
    void keep(const IsThere& is_there) {
        std::erase_if(owners_, [&](const auto& owner) { return !is_there(owner.first); });
    }

  private:
    using Owners = std::map<std::string, std::uint64_t, std::less<>>;

    std::optional<std::pair<std::string, std::uint64_t>> arriving_;
    Owners owners_;
    std::vector<std::uint64_t> superseded_;
};

inline void IdentityOwners::record_left(const std::string& identity, std::uint64_t id) {
    if (arriving_ && arriving_->second == id) {
        arriving_.reset();  // the connection was not accepted
    }
    const auto found = owners_.find(identity);
    if (found != owners_.end() && found->second == id) {
        owners_.erase(found);
    }
}

inline bool IdentityOwners::take_arrival(std::string_view identity) {
    if (!arriving_ || arriving_->first.empty() || identity != arriving_->first) {
        return false;
    }
    const std::uint64_t id = arriving_->second;
    const auto [place, is_first] = owners_.try_emplace(arriving_->first, id);
    if (!is_first) {
        superseded_.push_back(std::exchange(place->second, id));
    }
    arriving_.reset();
    return true;
}

}  // namespace telegate
