#pragma once

#include "core/curve.hpp"
#include "transport/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace telegate {

/// An accepted connection that is handed over to another thread.
struct Handover {
    std::unique_ptr<Stream> stream;
    std::string endpoint;
    std::shared_ptr<const Security> security;  // of the endpoint; null: the socket's
    std::uint64_t id = 0;
    std::uint64_t displaced = 0;  // the handshake there that it displaces; 0: none
    bool must_displace = false;   // otherwise there is no place for it
    std::uint32_t place = 0;      // on that thread
};

/// The state of a session on another thread, as known to the publisher's own thread.
struct RemoteSession {
    std::size_t shard = 0;
    std::uint32_t place = 0;  // on that thread
    std::string endpoint;     // the local endpoint
    std::string peer;
    std::string address;
    bool is_pending = true;  // its handshake is not known to be finished
};

/// The sessions of a socket that live on other threads, for the PeerTable that accepts them. They count against its
/// limits until it learns of their end, so that the total never exceeds the limits.
///
/// Threads: the reactor's.
/// Limits: the PeerTable's.
/// Failure: add() may throw std::bad_alloc.
class RemoteSessions {
  public:
    /// Moves the connection to another thread. Returns false if it has to stay here, with this many sessions.
    std::function<bool(Handover&, std::size_t sessions_here)> hand_over;
    /// Flushes the other threads.
    std::function<void()> flush;

    void add(std::uint64_t id, RemoteSession session);
    /// Returns null if the session is no longer known.
    [[nodiscard]] const RemoteSession* find(std::uint64_t id) const noexcept;
    /// Adds the ids of the sessions accepted at a local endpoint.
    void add_ids_of(std::string_view endpoint, std::vector<std::uint64_t>& ids) const;
    void note_opened(std::uint64_t id);
    /// Notes that another connection displaces it, so that it no longer counts as pending.
    void note_displaced(std::uint64_t id) { note_opened(id); }
    void remove(std::uint64_t id);

    [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }
    [[nodiscard]] std::size_t pending() const noexcept { return pending_; }
    [[nodiscard]] std::size_t pending_of(const std::string& address) const;
    /// Returns 0 if there is none.
    [[nodiscard]] std::uint64_t oldest_pending() const noexcept;
    [[nodiscard]] std::uint64_t oldest_pending_of(std::string_view address) const noexcept;

  private:
    void end_pending(RemoteSession& session);

    std::map<std::uint64_t, RemoteSession> sessions_;         // by id, and therefore by age
    std::unordered_map<std::string, std::size_t> addresses_;  // of pending handshakes
    std::size_t pending_ = 0;
};

}  // namespace telegate
