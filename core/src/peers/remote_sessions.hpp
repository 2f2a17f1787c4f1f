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

/// A connection that came in, on its way to another thread.
struct Handover {
    std::unique_ptr<Stream> stream;
    std::string endpoint;
    std::shared_ptr<const Security> security;  // of the endpoint; null: the socket's
    std::uint64_t id = 0;
    std::uint64_t displaced = 0;  // the handshake there that gives way to it; 0: none
    bool must_displace = false;   // or else there is no place
    std::uint32_t place = 0;      // there
};

/// What a publisher's own thread knows of a session on another one.
struct RemoteSession {
    std::size_t shard = 0;
    std::uint32_t place = 0;  // there
    std::string endpoint;     // of ours
    std::string peer;
    std::string address;
    bool is_pending = true;  // its handshake is not finished, as far as is known
};

/// The sessions of a socket that live on other threads, for the PeerTable that accepts them: they count against its
/// limits until their end is known here, so that there are never more than allowed in all.
///
/// Threads: the reactor's.
/// Limits:  the PeerTable's.
/// Failure: add() may throw std::bad_alloc.
class RemoteSessions {
  public:
    /// Takes the connection to another thread, unless it has to stay where it came in, with so many sessions: false.
    std::function<bool(Handover&, std::size_t sessions_here)> hand_over;
    /// Has the other threads write too.
    std::function<void()> flush;

    void add(std::uint64_t id, RemoteSession session);
    /// Null when it is not known any more.
    [[nodiscard]] const RemoteSession* find(std::uint64_t id) const noexcept;
    /// Those that came in at an endpoint of ours.
    void add_ids_of(std::string_view endpoint, std::vector<std::uint64_t>& ids) const;
    void note_opened(std::uint64_t id);
    /// Another one takes its place: it counts no more among those that are pending.
    void note_displaced(std::uint64_t id) { note_opened(id); }
    void remove(std::uint64_t id);

    [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }
    [[nodiscard]] std::size_t pending() const noexcept { return pending_; }
    [[nodiscard]] std::size_t pending_of(const std::string& address) const;
    /// 0 for none.
    [[nodiscard]] std::uint64_t oldest_pending() const noexcept;
    [[nodiscard]] std::uint64_t oldest_pending_of(std::string_view address) const noexcept;

  private:
    void end_pending(RemoteSession& session);

    std::map<std::uint64_t, RemoteSession> sessions_;         // by id, hence by age
    std::unordered_map<std::string, std::size_t> addresses_;  // of those that are pending
    std::size_t pending_ = 0;
};

}  // namespace telegate
