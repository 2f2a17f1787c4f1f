#pragma once

#include "core/endpoint.hpp"
#include "core/monitor.hpp"
#include "core/reactor.hpp"
#include "core/socket_options.hpp"
#include "core/watch.hpp"
#include "peers/listeners.hpp"
#include "peers/remote_sessions.hpp"
#include "session/session.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// For each session of a publisher: subscribers send little.
inline constexpr std::size_t subscriber_receive_buffer_bytes = 64 * 1024;

/// The differences between the sockets.
struct PeerTableOptions {
    zmtp::SocketType socket_type = zmtp::SocketType::pub;
    /// An upper bound regardless of the options, for a socket that receives little.
    std::size_t receive_buffer_bytes_max = SIZE_MAX;
    /// Whether messages that wait for a connected endpoint outlive the connection (DEALER, and ROUTER with an alias).
    bool keep_outbox = false;
    /// Sessions of the socket on other threads; null: none. Outlives the table.
    RemoteSessions* remote = nullptr;
};

/// All connections of one socket. Binds, connects and reconnects, limits the number of sessions, checks their
/// deadlines, keeps the totals and reports to the monitor.
///
/// Threads: the reactor's, or any while the event loop is not running.
/// Limits: sessions_max, handshakes_max and handshakes_per_address_max. At a limit, a new connection displaces the
/// oldest unfinished handshake; if all sessions are open, it is refused.
/// Failure: bind() and connect() throw std::system_error. A connection attempt that fails later is repeated.
///
/// The events are those of the sessions, called after the table's own processing. A session that has ended is destroyed
/// in a later event-loop iteration. An exception from an event or the monitor never interrupts the table's own work: it
/// leaves the reactor later.
class PeerTable {
  public:
    PeerTable(Reactor& reactor, const SocketOptions& options, PeerTableOptions table_options, SessionEvents events);
    /// Closes everything immediately. No events follow.
    ~PeerTable();
    PeerTable(const PeerTable&) = delete;
    PeerTable& operator=(const PeerTable&) = delete;

    /// Returns the endpoint as bound. Throws std::logic_error after close(), as does connect().
    /// `security` applies to new connections at this endpoint; null: the socket's own.
    Endpoint bind(const Endpoint& endpoint, std::shared_ptr<const Security> security = nullptr);
    /// Like bind(), on a socket that is already listening; see transport::adopt().
    Endpoint bind_adopted(const Endpoint& endpoint, int descriptor, std::shared_ptr<const Security> security = nullptr);
    /// Changes the security of new connections at the endpoint as bound. Returns false if it is not bound.
    bool set_security(const Endpoint& endpoint, std::shared_ptr<const Security> security);
    /// Closes connections of the endpoint that are in their handshake, on this thread.
    void close_handshakes(std::string_view endpoint, std::string_view why);
    /// Releases the endpoint immediately, even from within a handler; accepts no more connections there.
    bool unbind(const Endpoint& endpoint);
    /// Returns the sessions accepted at this endpoint, including those on other threads.
    [[nodiscard]] std::vector<std::uint64_t> accepted_at(std::string_view endpoint) const;
    /// Drains the sessions of the endpoint that are on this thread; closes the remaining ones in the first tick after
    /// `grace`.
    void close_accepted(std::string_view endpoint, std::chrono::milliseconds grace);
    /// Returns the outbox of the future connection if it is kept across connections; otherwise null.
    std::shared_ptr<Outbox> connect(const Endpoint& endpoint, std::string alias);
    bool disconnect(const Endpoint& endpoint);
    [[nodiscard]] std::vector<Endpoint> endpoints() const;

    /// Takes over a connection that another table has accepted and numbered. Afterwards, find() tells whether it is a
    /// session.
    void adopt(Handover handover);
    /// Notes that a remote session has ended and was removed.
    void note_remote_ended();
    /// While held, sessions read only within take(): the owner cannot process more.
    void set_held(bool held) noexcept;

    /// Returns the sessions that are not closed, including those in their handshake.
    [[nodiscard]] const std::vector<std::unique_ptr<Session>>& sessions() const noexcept;
    [[nodiscard]] Session* find(std::uint64_t id) noexcept;

    /// Has the next flush() write to this session.
    void mark(Session& session);
    /// Requests flush() at the end of the event-loop iteration.
    void flush_soon();
    void flush_soon(Session& session) {
        mark(session);
        flush_soon();
    }
    /// Writes to the sessions that were marked.
    void flush();
    /// Like flush(), but does nothing if no session is marked. Called before waiting, so that the event loop can wait
    /// immediately.
    void flush_marked();
    /// Returns a counter of flushes and of the sessions written, which starts at 1. A session that was marked at the
    /// current count is still marked.
    [[nodiscard]] const std::uint64_t& flushes() const noexcept;

    /// Accepts no more connections, stops connecting, drains all sessions, and closes those that remain after `grace`.
    /// Calls `done`, unless empty, once from a later event-loop iteration. It is not called if the table is destroyed
    /// first, even by the `done` of another call. A second call can only shorten the grace period.
    void close(std::chrono::milliseconds grace, std::function<void()> done);
    [[nodiscard]] bool is_closing() const noexcept;

    void set_monitor(MonitorHandler handler);
    /// Reports an event that only the socket knows of: subscribed, unsubscribed. Without a monitor, costs one branch.
    void tell(MonitorEventKind kind, const Session& session, std::string_view detail, std::uint64_t count = 0);
    /// Reports an event from another thread.
    void tell(const MonitorEvent& event);

    /// Returns the status of the sessions that have finished their handshake.
    [[nodiscard]] std::vector<PeerStatus> statuses() const;
    [[nodiscard]] SocketTotals totals() const;
    [[nodiscard]] SegmentPool& segments() noexcept;

  private:
    struct State;

    Endpoint listen(const Endpoint& endpoint, std::shared_ptr<const Security> security,
                    const Listeners::MakeListener& make);

    std::unique_ptr<State> state_;
};

}  // namespace telegate
