#pragma once

#include "core/client_shares.hpp"
#include "peers/pending_handshakes.hpp"
#include "peers/session_list.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace telegate {

class RemoteSessions;

/// The places that the clients of one socket have, on this thread and on others, see client_of().
///
/// Threads: the reactor's.
/// Limits: those of the PeerTable. While there is no session to close in favor of a client, it is not searched for more
/// often than every search_pause, because that costs more than a refusal.
/// Failure: add() may throw std::bad_alloc.
class ClientPlaces {
  public:
    static constexpr std::chrono::milliseconds search_pause{100};
    /// Time for a session to be of use before it makes way for another of the same client.
    static constexpr std::chrono::milliseconds idle_min{1'000};

    explicit ClientPlaces(PendingHandshakes& pending) noexcept : pending_(pending) {}

    /// Counts an accepted session, which is in its handshake.
    void add(const PendingHandshakes::Handshake& handshake, const std::string& client);
    void end_handshake(std::uint64_t id) noexcept { pending_.remove(id); }
    void remove(std::uint64_t id, std::string_view client) noexcept;
    [[nodiscard]] const ClientShares& shares() const noexcept { return shares_; }

    /// Closes an open session in favor of a client: of the client with the most sessions if it has to yield, otherwise
    /// one of its own that is of little use. Sessions that have sent nothing yet come first, then those that lose
    /// messages because they read too slowly, the oldest first; then, if the other client yields, the newest. One on
    /// another thread frees its place only later.
    void make_place(const std::string& client, const SessionList& sessions, const RemoteSessions& remote);

  private:
    PendingHandshakes& pending_;
    ClientShares shares_;
    std::string unyielding_;  // a client without success, and until when it is not tried again
    std::chrono::steady_clock::time_point unyielding_until_;
};

}  // namespace telegate
