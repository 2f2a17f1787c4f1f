#pragma once

#include "core/curve.hpp"
#include "peers/client_places.hpp"
#include "transport/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
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
    std::string client;  // see client_of()
};

/// The sessions of a socket that live on other threads, of the PeerTable that accepts them. They count against its
/// limits until it learns of their end, so that the total never exceeds the limits.
///
/// Threads: the reactor's.
/// Limits: the PeerTable's.
/// Failure: add() may throw std::bad_alloc.
class RemoteSessions {
  public:
    /// `places` counts the sessions.
    explicit RemoteSessions(ClientPlaces& places) noexcept : places_(places) {}

    /// Moves the connection to another thread. Returns false if it has to stay here, with this many sessions. Empty if
    /// there are no other threads, like `close` and `flush`.
    std::function<bool(Handover&, std::size_t sessions_here)> hand_over;
    /// Has a session closed by its thread.
    std::function<void(std::uint64_t id, std::string_view why)> close;
    /// Flushes the other threads.
    std::function<void()> flush;

    void add(std::uint64_t id, RemoteSession session);
    /// Returns the newest session of a client; 0: none.
    [[nodiscard]] std::uint64_t newest_of(std::string_view client) const noexcept;
    /// Returns null if the session is no longer known.
    [[nodiscard]] const RemoteSession* find(std::uint64_t id) const noexcept;
    /// Adds the ids of the sessions accepted at a local endpoint.
    void add_ids_of(std::string_view endpoint, std::vector<std::uint64_t>& ids) const;
    /// Records that its handshake has finished, or that another connection displaces it.
    void end_handshake(std::uint64_t id) { places_.end_handshake(id); }
    void remove(std::uint64_t id);

    [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }

  private:
    ClientPlaces& places_;
    std::map<std::uint64_t, RemoteSession> sessions_;  // by id
};

}  // namespace telegate
