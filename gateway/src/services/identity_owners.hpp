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

/// Which connection an identity belongs to: a peer that comes back may take over that of its older connection.
///
/// Threads: one. Limits: one entry for each connection that told an identity. Failure: std::bad_alloc.
class IdentityOwners {
  public:
    /// The handshake of a connection is done; it is not let in yet.
    void note_handshake(const std::string& identity, std::uint64_t id) { arriving_.emplace(identity, id); }
    void note_left(const std::string& identity, std::uint64_t id);
    /// The peer can be written to. Whether this is the connection that has just arrived: then what its predecessor
    /// asked for is not for it.
    [[nodiscard]] bool take_arrival(std::string_view identity);
    /// Connections whose identity has been taken over since the last call. What they have sent is not to be answered.
    [[nodiscard]] std::vector<std::uint64_t> take_superseded() noexcept { return std::exchange(superseded_, {}); }
    /// Forgets those that `is_there` does not know.
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

inline void IdentityOwners::note_left(const std::string& identity, std::uint64_t id) {
    if (arriving_ && arriving_->second == id) {
        arriving_.reset();  // it was not let in
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
