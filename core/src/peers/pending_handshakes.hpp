#pragma once

#include "core/client_shares.hpp"
#include "session/session.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace telegate {

/// The accepted sessions of one socket, on this thread and on others, whose handshake is not finished, oldest first. A
/// client is an IP address or a /64 network, see client_of().
///
/// Threads: the reactor's.
/// Limits: set by the caller, which closes the oldest sessions.
/// Failure: add() may throw std::bad_alloc.
class PendingHandshakes {
  public:
    struct Handshake {
        std::uint64_t id = 0;        // of the session; 0: there is none
        Session* session = nullptr;  // null: on another thread
    };

    void add(const Handshake& handshake, const std::string& client);
    /// Removes a session; does nothing if it is not listed.
    void remove(std::uint64_t id);

    [[nodiscard]] std::size_t size() const noexcept { return handshakes_.size(); }
    [[nodiscard]] std::size_t size_of(std::string_view client) const noexcept { return shares_.of(client); }
    [[nodiscard]] const ClientShares& shares() const noexcept { return shares_; }
    /// Returns the oldest handshake of a client, or of all if it is empty. `only_here`: on this thread.
    [[nodiscard]] Handshake oldest(std::string_view client, bool only_here) const noexcept;
    /// Returns the oldest handshake of the client that makes way for a connection of `client`: the one with the most
    /// places if it has to yield, otherwise the same client. One without any place displaces the oldest of all.
    [[nodiscard]] Handshake to_displace(const ClientShares& places, std::string_view client,
                                        bool only_here) const noexcept;

  private:
    struct Entry {
        Session* session;
        std::string client;
    };

    std::map<std::uint64_t, Entry> handshakes_;  // by id, and therefore by age
    ClientShares shares_;
};

}  // namespace telegate
