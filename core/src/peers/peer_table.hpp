#pragma once

#include "buffers/buffer_pool.hpp"
#include "buffers/segment_log.hpp"
#include "core/assert.hpp"
#include "core/client_shares.hpp"
#include "core/curve.hpp"
#include "core/endpoint.hpp"
#include "core/monitor.hpp"
#include "core/reactor.hpp"
#include "core/socket_options.hpp"
#include "core/watch.hpp"
#include "peers/client_places.hpp"
#include "peers/dialer.hpp"
#include "peers/flush_list.hpp"
#include "peers/listeners.hpp"
#include "peers/peer_monitor.hpp"
#include "peers/pending_handshakes.hpp"
#include "peers/remote_sessions.hpp"
#include "peers/session_list.hpp"
#include "peers/socket_closing.hpp"
#include "reactor/rethrow_later.hpp"
#include "session/session.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
};

/// All connections of one socket. Binds, connects and reconnects, limits the number of sessions, checks their
/// deadlines, keeps the totals and reports to the monitor.
///
/// Threads: the reactor's, or any while the event loop is not running.
/// Limits: sessions_max, handshakes_max and handshakes_per_address_max. At a limit, a new connection displaces the
/// oldest unfinished handshake of the client with the most, or of its own client, see PendingHandshakes; if that has
/// none, an open session of it, see ClientPlaces; otherwise it is refused.
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
    /// `security` applies to new connections at this endpoint; nullopt: the socket's own. Throws std::invalid_argument
    /// for CURVE over inproc, as does set_security().
    Endpoint bind(const Endpoint& endpoint, std::optional<Security> security = std::nullopt);
    /// Like bind(), on a socket that is already listening; see transport::adopt().
    Endpoint bind_adopted(const Endpoint& endpoint, int descriptor, std::optional<Security> security = std::nullopt);
    /// Changes the security of new connections at the endpoint as bound, and closes those that are in their handshake.
    /// Returns false if it is not bound.
    bool set_security(const Endpoint& endpoint, Security security);
    /// Closes connections of the endpoint that are in their handshake, on this thread: its security has changed.
    void close_handshakes(std::string_view endpoint);
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
    [[nodiscard]] std::vector<Endpoint> endpoints() const { return listeners_.endpoints(); }

    /// Returns the sessions of the socket on other threads, maintained by the owner of these threads.
    [[nodiscard]] RemoteSessions& remote() noexcept { return remote_; }
    /// Takes over a connection that another table has accepted and numbered. Afterwards, find() tells whether it is a
    /// session.
    void adopt(Handover handover);
    /// Records that a remote session has ended and was removed.
    void on_remote_ended() { report_if_deserted(); }
    /// While held, sessions read only within Session::receive(): the owner cannot process more.
    void set_held(bool held) noexcept { context_.is_held = held; }

    /// Returns the sessions that are not closed, including those in their handshake.
    [[nodiscard]] const std::vector<std::unique_ptr<Session>>& sessions() const noexcept { return sessions_.all(); }
    [[nodiscard]] Session* find(std::uint64_t id) noexcept { return sessions_.find(id); }

    /// Has the next flush() write to this session.
    void mark(Session& session) { dirty_.mark(session); }
    /// Requests flush() at the end of the event-loop iteration.
    void flush_soon() { later_flush_.schedule(); }
    void flush_soon(Session& session) {
        mark(session);
        flush_soon();
    }
    /// Writes to the sessions that were marked.
    void flush() {
        TELEGATE_ASSERT(reactor_.is_current());
        flush_now();
    }
    /// Like flush(), but does nothing if no session is marked. Called before waiting, so that the event loop can wait
    /// immediately.
    void flush_marked() {
        if (!dirty_.empty()) {
            flush();
        }
    }
    /// Returns a counter of flushes and of the sessions written, which starts at 1. A session that was marked at the
    /// current count is still marked.
    [[nodiscard]] const std::uint64_t& flushes() const noexcept { return dirty_.flushes(); }

    /// Accepts no more connections, stops connecting, drains all sessions, and closes those that remain after `grace`.
    /// Calls `done`, unless empty, once from a later event-loop iteration. It is not called if the table is destroyed
    /// first, even by the `done` of another call. A second call can only shorten the grace period.
    void close(std::chrono::milliseconds grace, std::function<void()> done);
    [[nodiscard]] bool is_closing() const noexcept { return closing_.state() != SocketClosing::State::open; }

    void set_monitor(MonitorHandler handler) { monitor_.set(std::move(handler)); }
    /// Reports an event that only the socket knows of: subscribed, unsubscribed. Without a monitor, costs one branch.
    void report(MonitorEventKind kind, const Session& session, std::string_view detail) {
        monitor_.report(kind, session, detail);
    }
    /// Reports an event from another thread.
    void report(const MonitorEvent& event) { monitor_.report(event); }

    /// Returns the status of the sessions that have finished their handshake.
    [[nodiscard]] std::vector<PeerStatus> statuses() const;
    [[nodiscard]] SocketTotals totals() const;
    /// Returns the places of each client, on all threads.
    [[nodiscard]] const ClientShares& shares() const noexcept { return places_.shares(); }
    [[nodiscard]] SegmentPool& segments() noexcept { return segments_; }

  private:
    using Listening = Listeners::Listening;
    using Note = SessionList::Note;

    void check_not_closed() const;
    Endpoint listen(const Endpoint& endpoint, std::shared_ptr<const Security> security,
                    const Listeners::MakeListener& make);
    void accept(const Listening& listening, std::unique_ptr<Stream> stream);
    void admit_accepted(std::unique_ptr<Stream> stream, const std::string& endpoint,
                        const std::shared_ptr<const Security>& security);
    [[nodiscard]] std::uint64_t make_room(const Stream& stream);
    [[nodiscard]] static std::uint64_t displace(const PendingHandshakes::Handshake& oldest);
    bool hand_over(std::unique_ptr<Stream>& stream, const Listening& listening, std::uint64_t displaced);
    [[nodiscard]] std::size_t sessions_in_all() const noexcept { return sessions_.size() + remote_.size(); }
    void report_if_deserted();
    void refuse(const std::string& endpoint, const std::string& peer, std::string_view why);
    Session& admit(std::unique_ptr<Stream> stream, const std::string& endpoint,
                   const std::shared_ptr<const Security>& security, Dialer* dialer);
    void begin(Session& session, MonitorEventKind kind);

    void on_stream(Dialer& dialer, std::unique_ptr<Stream> stream);
    void on_failure(Dialer& dialer, std::string_view why);
    void retire(const Dialer& dialer);

    void on_opened(Session& session);
    void on_ended(Session& session, std::string_view why);
    void count_ended(const Session& session, const Note& note);
    void report_ended(const Session& session, Note& note, std::string_view why) const;
    void go_on(Dialer& dialer, const Session& session, std::string_view why);
    void tick();
    void flush_now();
    void flush(Session& session);
    void begin_close();
    static void drain(const std::vector<Session*>& sessions);
    void cut();
    void clean();

    Reactor& reactor_;
    const SocketOptions options_;
    const PeerTableOptions table_options_;
    std::chrono::milliseconds tick_time_;
    SegmentPool segments_;  // outlives all references to segments
    BufferPool buffers_;
    SessionEvents events_;
    SessionContext context_;
    PeerMonitor monitor_;
    SocketTotals totals_;  // without current sessions and outboxes

    Listeners listeners_;
    std::vector<std::unique_ptr<Dialer>> dialers_;
    std::vector<std::unique_ptr<Dialer>> old_dialers_;  // maybe in the middle of a call: destroyed in a later iteration
    SessionList sessions_;
    PendingHandshakes pending_;
    ClientPlaces places_{pending_};
    RemoteSessions remote_{places_};
    std::uint64_t sessions_seen_ = 0;
    FlushList dirty_;
    SocketClosing closing_;

    bool ticking_ = false;
    Alarm tick_alarm_;
    Later later_flush_;
    Later later_clean_;
};

}  // namespace telegate
