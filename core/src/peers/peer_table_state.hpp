#pragma once

#include "peers/dialer.hpp"
#include "peers/flush_list.hpp"
#include "peers/listeners.hpp"
#include "peers/peer_monitor.hpp"
#include "peers/peer_table.hpp"
#include "peers/pending_handshakes.hpp"
#include "peers/session_list.hpp"
#include "peers/socket_closing.hpp"
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

/// The implementation of PeerTable: creates and ends sessions, and passes the events of its parts on.
/// Threads, Limits, Failure: as PeerTable.
struct PeerTable::State {
    using Listening = Listeners::Listening;
    using Note = SessionList::Note;

    State(Reactor& reactor_in, const SocketOptions& options_in, PeerTableOptions table_in, SessionEvents events_in);
    ~State();

    void check_not_closed() const;
    void accept(const Listening& listening, std::unique_ptr<Stream> stream);
    struct Origin {
        const std::string& endpoint;
        const std::shared_ptr<const Security>& security;
    };
    void take_in(std::unique_ptr<Stream> stream, const Origin& origin);
    void adopt(Handover handover);
    [[nodiscard]] std::uint64_t make_room(const Stream& stream);
    [[nodiscard]] static std::uint64_t displace(Session* here, std::uint64_t remote_id);
    bool hand_over(std::unique_ptr<Stream>& stream, const Listening& listening, std::uint64_t displaced);
    [[nodiscard]] std::size_t sessions_in_all() const noexcept;
    [[nodiscard]] std::size_t pending_in_all() const noexcept;
    [[nodiscard]] bool is_deserted() const noexcept { return sessions_in_all() == 0; }
    void tell_if_deserted();
    void refuse(const std::string& endpoint, const std::string& peer, std::string_view why);
    void note_accept_error(const Listening& listening, int error);
    Session& admit(std::unique_ptr<Stream> stream, const Origin& origin, Dialer* dialer);
    void begin(Session& session, MonitorEventKind kind);
    bool stop_listening(const Endpoint& endpoint);

    void take_stream(Dialer& dialer, std::unique_ptr<Stream> stream);
    void note_failure(Dialer& dialer, std::string_view why);
    [[nodiscard]] std::vector<Dialer*> dialers_of(const Endpoint& endpoint) const;
    void retire(const Dialer& dialer);

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

    Listeners listeners;
    std::vector<std::unique_ptr<Dialer>> dialers;
    std::vector<std::unique_ptr<Dialer>> old_dialers;  // maybe in the middle of a call: destroyed in a later iteration
    SessionList sessions;
    PendingHandshakes pending;
    std::uint64_t sessions_seen = 0;
    FlushList dirty;
    SocketClosing closing;

    bool ticking = false;
    Alarm tick_alarm;
    Later later_flush;
    Later later_clean;
};

}  // namespace telegate
