#pragma once

#include "core/endpoint.hpp"
#include "core/monitor.hpp"
#include "core/reactor.hpp"
#include "core/socket_options.hpp"
#include "core/watch.hpp"
#include "peers/remote_sessions.hpp"
#include "session/session.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Of each session of a publisher, whose subscribers send little.
inline constexpr std::size_t subscriber_receive_buffer_bytes = 64 * 1024;

/// In what the sockets differ.
struct PeerTableOptions {
    zmtp::SocketType socket_type = zmtp::SocketType::pub;
    /// Whatever the options say; for a socket that is sent little.
    std::size_t receive_buffer_bytes_max = SIZE_MAX;
    /// Whether what waits for a connected endpoint outlives the connection (DEALER, and ROUTER with an alias).
    bool keep_outbox = false;
    /// Sessions of the socket on other threads; null when there are none. Outlives the table.
    RemoteSessions* remote = nullptr;
};

/// All connections of one socket: binds, connects and connects again, holds the sessions within their limits, looks at
/// their deadlines, counts, and tells the monitor.
///
/// Threads: the reactor's, or any while nobody turns it.
/// Limits:  sessions_max, handshakes_max and handshakes_per_address_max: the oldest unfinished handshake gives way to a
///          newcomer; when all are open the newcomer is refused.
/// Failure: bind() and connect() throw std::system_error. A connect that fails later is tried again.
///
/// The events are those of the sessions, after the table has done its own part. A session that has ended is destroyed
/// in a later turn of the loop. An exception that leaves an event or the monitor never interrupts the table's own work:
/// it leaves the reactor later.
class PeerTable {
  public:
    PeerTable(Reactor& reactor, const SocketOptions& options, PeerTableOptions table_options, SessionEvents events);
    /// Closes everything at once; no event comes any more.
    ~PeerTable();
    PeerTable(const PeerTable&) = delete;
    PeerTable& operator=(const PeerTable&) = delete;

    /// After close() it throws std::logic_error, as connect() does.
    /// `security` is of who comes in there; null is the socket's own.
    Endpoint bind(const Endpoint& endpoint, std::shared_ptr<const Security> security = nullptr);
    /// As bind(), on a socket that listens there already; see transport::adopt().
    Endpoint bind_adopted(const Endpoint& endpoint, int descriptor, std::shared_ptr<const Security> security = nullptr);
    /// Of who comes in at the endpoint as bound from now on. Whether it was bound.
    bool set_security(const Endpoint& endpoint, std::shared_ptr<const Security> security);
    /// Closes what has come in there and is in its handshake, on this thread.
    void close_handshakes(std::string_view endpoint, std::string_view why);
    /// Frees the endpoint at once, also from within a handler; nothing more is accepted from it.
    bool unbind(const Endpoint& endpoint);
    /// The sessions that came in at this endpoint, those on other threads too.
    [[nodiscard]] std::vector<std::uint64_t> accepted_at(std::string_view endpoint) const;
    /// Drains those of this thread; cuts what is left of them in the first tick after `grace`.
    void close_accepted(std::string_view endpoint, std::chrono::milliseconds grace);
    /// Returns the outbox of the connection to be, when it is kept over connections; null otherwise.
    std::shared_ptr<Outbox> connect(const Endpoint& endpoint, std::string alias);
    bool disconnect(const Endpoint& endpoint);
    [[nodiscard]] std::vector<Endpoint> endpoints() const;

    /// A connection that another table has accepted, and numbered. find() tells whether it is a session now.
    void adopt(Handover handover);
    /// A remote session has ended and was removed.
    void note_remote_ended();
    /// While held, sessions are not taken from but by take(): who owns them has said that it cannot go on.
    void set_held(bool held) noexcept;

    /// Not closed; before and after their handshake.
    [[nodiscard]] const std::vector<std::unique_ptr<Session>>& sessions() const noexcept;
    [[nodiscard]] Session* find(std::uint64_t id) noexcept;

    /// Has the next flush() write to this session.
    void mark(Session& session);
    /// Has flush() called at the end of the turn.
    void flush_soon();
    void flush_soon(Session& session) {
        mark(session);
        flush_soon();
    }
    /// Flushes what mark() has collected.
    void flush();
    /// The same, and nothing when there is nothing to flush: before waiting, so that the loop can wait at once.
    void flush_marked();
    /// Counts flushes and the sessions that they wrote to, from 1. Who was marked at this count is marked still.
    [[nodiscard]] const std::uint64_t& flushes() const noexcept;

    /// Accepts nobody new, connects no more, drains all sessions, cuts after `grace`. `done`, unless empty, is called
    /// from a later turn, once, unless the table goes first, be it in the `done` of another call. A second call can
    /// only shorten the grace.
    void close(std::chrono::milliseconds grace, std::function<void()> done);
    [[nodiscard]] bool is_closing() const noexcept;

    void set_monitor(MonitorHandler handler);
    /// To tell what only the socket knows: subscribed, unsubscribed. Costs a branch when nobody listens.
    void tell(MonitorEventKind kind, const Session& session, std::string_view detail, std::uint64_t count = 0);
    /// To tell what happened on another thread.
    void tell(const MonitorEvent& event);

    /// Of sessions after their handshake.
    [[nodiscard]] std::vector<PeerStatus> statuses() const;
    [[nodiscard]] SocketTotals totals() const;
    [[nodiscard]] SegmentPool& segments() noexcept;

  private:
    struct State;
    using MakeListener = std::function<std::unique_ptr<transport::Listener>(transport::ListenerEvents)>;

    Endpoint listen(const Endpoint& endpoint, std::shared_ptr<const Security> security, const MakeListener& make);

    std::unique_ptr<State> state_;
};

}  // namespace telegate
