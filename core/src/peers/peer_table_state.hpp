#pragma once

#include "peers/dialer.hpp"
#include "peers/flush_list.hpp"
#include "peers/peer_monitor.hpp"
#include "peers/peer_table.hpp"
#include "peers/pending_handshakes.hpp"
#include "reactor/rethrow_later.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The implementation of PeerTable. The functions for the socket are in peer_table.cpp, the handling of each connection
/// is in peer_table_connections.cpp, and operations on all of them are in peer_table_state.cpp.
/// Threads, Limits, Failure: as PeerTable.
struct PeerTable::State {
    struct Listening {
        std::unique_ptr<transport::Listener> listener;  // null: unbound during one of its own calls
        std::string endpoint;
        std::shared_ptr<const Security> security;  // for new connections; null: the socket's
    };
    /// The data of the table about the session at the same index.
    struct Note {
        Dialer* dialer = nullptr;  // null: the connection was accepted
        PeerMonitor::Told told;
        std::chrono::steady_clock::time_point cut_at = std::chrono::steady_clock::time_point::max();
    };

    State(Reactor& reactor_in, const SocketOptions& options_in, PeerTableOptions table_in, SessionEvents events_in);
    ~State();

    void check_not_closed() const;
    void accept(Listening& listening, std::unique_ptr<Stream> stream);
    struct Origin {
        const std::string& endpoint;
        const std::shared_ptr<const Security>& security;
    };
    void take_in(std::unique_ptr<Stream> stream, const Origin& origin);
    void adopt(Handover handover);
    [[nodiscard]] Session* find(std::uint64_t id) const noexcept;
    [[nodiscard]] std::uint64_t make_room(const Stream& stream);
    [[nodiscard]] static std::uint64_t displace(Session* here, std::uint64_t remote_id);
    bool hand_over(std::unique_ptr<Stream>& stream, const Listening& listening, std::uint64_t displaced);
    [[nodiscard]] std::size_t sessions_in_all() const noexcept;
    [[nodiscard]] std::size_t pending_in_all() const noexcept;
    [[nodiscard]] bool is_deserted() const noexcept { return sessions_in_all() == 0; }
    void tell_if_deserted();
    [[nodiscard]] Session* first_retiring() const;
    void refuse(const std::string& endpoint, const std::string& peer, std::string_view why);
    void note_accept_error(const Listening& listening, int error);
    Session& admit(std::unique_ptr<Stream> stream, const Origin& origin, Dialer* dialer);
    void begin(Session& session, MonitorEventKind kind);
    void stop_listening(std::unique_ptr<Listening> listening);

    void take_stream(Dialer& dialer, std::unique_ptr<Stream> stream);
    void note_failure(Dialer& dialer, std::string_view why);
    [[nodiscard]] std::vector<Dialer*> dialers_of(const Endpoint& endpoint) const;
    void retire(const Dialer& dialer);
    [[nodiscard]] static bool is_kept(const Note& note) noexcept;
    [[nodiscard]] Session* session_of(const Dialer& dialer) const noexcept;

    /// Makes a call for one session. Exhausted memory closes that session; any other exception leaves the reactor
    /// later.
    template <class Call>
    void guard(Session& session, const Call& call) {
        rethrow_later(reactor, [&] {
            try {
                call();
            } catch (const std::bad_alloc&) {
                session.close("out of memory");
            }
        });
    }
    void note_opened(Session& session);
    void note_ended(Session& session, std::string_view why);
    void count_ended(const Session& session, const Note& note);
    void tell_ended(const Session& session, Note& note, std::string_view why) const;
    void go_on(Dialer& dialer, const Session& session, std::string_view why);
    void tick();
    void flush();
    void flush(Session& session);
    [[nodiscard]] SocketTotals sum() const;
    void begin_close();
    void close_accepted(std::string_view endpoint, std::chrono::steady_clock::time_point cut_at);
    void close_handshakes(std::string_view endpoint, std::string_view why);
    void tell_closed();
    void cut();
    void clean();

    Reactor& reactor;
    const SocketOptions options;
    const PeerTableOptions table_options;
    std::chrono::milliseconds tick_time;
    SegmentPool segments;  // outlives all references to segments
    BufferPool buffers;
    SessionEvents events;
    SessionContext context;
    PeerMonitor monitor;
    SocketTotals totals;  // without current sessions and outboxes

    std::vector<std::unique_ptr<Listening>> listeners;
    std::vector<std::unique_ptr<Dialer>> dialers;
    std::vector<std::unique_ptr<Session>> sessions;
    std::vector<Note> notes;
    PendingHandshakes pending;
    std::uint64_t sessions_seen = 0;

    FlushList dirty;

    // They may be in the middle of a call, so they are destroyed in a later iteration.
    std::vector<std::unique_ptr<Session>> old_sessions;
    std::vector<std::unique_ptr<Dialer>> old_dialers;
    std::vector<std::unique_ptr<Listening>> old_listeners;
    unsigned accepting = 0;  // calls from listeners in progress

    bool ticking = false;
    bool closing = false;
    bool gone = false;
    std::chrono::steady_clock::time_point grace_end = std::chrono::steady_clock::time_point::max();
    std::vector<std::function<void()>> on_closed;

    Alarm tick_alarm;
    Alarm grace_alarm;
    Later later_flush;
    Later later_clean;
    Later later_closed;
};

}  // namespace telegate
