#include "base/reserve_more.hpp"
#include "peers/peer_table_state.hpp"
#include "peers/socket_totals.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

// Accepts and makes connections, and handles their end.

namespace telegate {
namespace {

constexpr std::string_view too_many_connections = "too many connections";
constexpr std::string_view too_many_handshakes = "too many handshakes at once";

/// Counts the calls in progress.
class Within {
  public:
    explicit Within(unsigned& depth) noexcept : depth_(depth) { ++depth_; }
    ~Within() { --depth_; }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

  private:
    unsigned& depth_;
};

}  // namespace

void PeerTable::State::accept(Listening& listening, std::unique_ptr<Stream> stream) {
    const Within within(accepting);
    const std::uint64_t displaced = make_room(*stream);
    if (closing || listening.listener == nullptr) {  // changed by make_room()
        return;
    }
    if (displaced == 0 && sessions_in_all() >= options.sessions_max) {
        return refuse(listening.endpoint, stream->peer(), too_many_connections);
    }
    // The handshakes are on other threads, where this connection cannot be moved.
    if (displaced == 0 && pending_in_all() >= options.handshakes_max) {
        return refuse(listening.endpoint, stream->peer(), too_many_handshakes);
    }
    if (table_options.remote != nullptr && hand_over(stream, listening, displaced)) {
        return;
    }
    take_in(std::move(stream), {listening.endpoint, listening.security});
}

void PeerTable::State::take_in(std::unique_ptr<Stream> stream, const Origin& origin) {
    const std::string peer = stream->peer();
    Session* session = nullptr;
    try {
        session = &admit(std::move(stream), origin, nullptr);
    } catch (const std::exception& error) {
        return refuse(origin.endpoint, peer, error.what());
    }
    ++totals.connections_accepted;
    begin(*session, MonitorEventKind::accepted);
}

/// Returns true if the connection was moved to another thread.
bool PeerTable::State::hand_over(std::unique_ptr<Stream>& stream, const Listening& listening, std::uint64_t displaced) {
    const bool is_full = sessions_in_all() >= options.sessions_max;
    Handover handover{
        std::move(stream), listening.endpoint, listening.security, sessions_seen + 1, displaced, is_full, 0};
    if (!table_options.remote->hand_over(handover, sessions.size())) {
        stream = std::move(handover.stream);
        return false;
    }
    ++sessions_seen;
    return true;
}

void PeerTable::State::adopt(Handover handover) {
    if (closing) {
        return;
    }
    Session* const displaced = handover.displaced == 0 ? nullptr : find(handover.displaced);
    if (displaced != nullptr && displaced->state() == Session::State::handshake) {
        displaced->close(too_many_handshakes);
    } else if (displaced != nullptr && handover.must_displace) {  // its handshake has finished meanwhile
        return refuse(handover.endpoint, handover.stream->peer(), too_many_connections);
    }
    sessions_seen = handover.id - 1;
    take_in(std::move(handover.stream), {handover.endpoint, handover.security});
}

void PeerTable::State::begin(Session& session, MonitorEventKind kind) {
    monitor.tell(kind, session, {});
    if (session.state() != Session::State::closed) {
        session.start();
    }
}

/// Closes the oldest handshake, or a retiring session if there is none, when a limit is reached. Returns the id of a
/// handshake to be displaced on another thread, or 0.
std::uint64_t PeerTable::State::make_room(const Stream& stream) {
    const RemoteSessions* const remote = table_options.remote;
    const bool can_leave = remote != nullptr && !stream.stays_in_process();
    const std::string address = stream.address();
    std::uint64_t displaced = 0;
    if (!address.empty() && pending.size_of(address) + (remote == nullptr ? 0 : remote->pending_of(address)) >=
                                options.handshakes_per_address_max) {
        displaced = displace(pending.oldest_of(address), can_leave ? remote->oldest_pending_of(address) : 0);
    }
    if (displaced == 0 && (pending_in_all() >= options.handshakes_max || sessions_in_all() >= options.sessions_max)) {
        displaced = displace(pending.oldest(), can_leave ? remote->oldest_pending() : 0);
        Session* const retiring =
            displaced == 0 && sessions_in_all() >= options.sessions_max ? first_retiring() : nullptr;
        if (retiring != nullptr) {
            retiring->retire(too_many_connections);  // the second call closes
        }
    }
    return displaced;
}

/// Displaces the older of the two handshakes, either of which may be missing. Returns the id of the one on another
/// thread if that is older, or 0.
std::uint64_t PeerTable::State::displace(Session* here, std::uint64_t remote_id) {
    if (here == nullptr || (remote_id != 0 && remote_id < here->id())) {
        return remote_id;
    }
    here->close(too_many_handshakes);
    return 0;
}

/// Returns the oldest retiring session, preferring those that have been read completely; null if there is none.
Session* PeerTable::State::first_retiring() const {
    Session* found = nullptr;
    for (const auto& session : sessions) {
        if (!session->is_retiring()) {
            continue;
        }
        const bool is_better = found == nullptr || session->is_caught_up() > found->is_caught_up() ||
                               (session->is_caught_up() == found->is_caught_up() && session->id() < found->id());
        found = is_better ? session.get() : found;
    }
    return found;
}

void PeerTable::State::refuse(const std::string& endpoint, const std::string& peer, std::string_view why) {
    ++totals.connections_refused;
    monitor.tell(MonitorEventKind::refused, endpoint, why, peer);
}

void PeerTable::State::note_accept_error(const Listening& listening, int error) {
    const Within within(accepting);
    ++totals.accept_errors;
    monitor.tell(MonitorEventKind::accept_failed, listening.endpoint, std::generic_category().message(error));
}

/// Creates a session without starting it. Throws std::system_error if the event loop cannot watch more descriptors.
Session& PeerTable::State::admit(std::unique_ptr<Stream> stream, const Origin& origin, Dialer* dialer) {
    Session::Arrival arrival;
    arrival.stream = std::move(stream);
    arrival.id = sessions_seen + 1;
    arrival.endpoint = origin.endpoint;
    arrival.security = origin.security;
    arrival.alias = dialer != nullptr ? dialer->alias() : std::string();
    arrival.initiator = dialer != nullptr;
    arrival.keep_outbox = dialer != nullptr && dialer->outbox() != nullptr;
    arrival.outbox = arrival.keep_outbox ? dialer->outbox() : std::make_shared<Outbox>(segments);
    const std::uint64_t dropped_before = arrival.outbox->dropped();
    // Allocate everything first, so that a failure leaves nothing to undo.
    auto session = std::make_unique<Session>(context, std::move(arrival));
    reserve_more(notes, 1);
    reserve_more(sessions, 1);
    reserve_more(old_sessions, sessions.size() + 1);
    if (!ticking) {
        tick_alarm.set(tick_time);
        ticking = true;
    }
    if (dialer == nullptr) {
        pending.add(*session);
    }
    ++sessions_seen;
    session->set_index(sessions.size());
    notes.push_back({dialer, {false, dropped_before}});
    sessions.push_back(std::move(session));
    if (sessions.back()->stays_in_process()) {
        segments.add_reader_in_process();
    }
    return *sessions.back();
}

void PeerTable::State::stop_listening(std::unique_ptr<Listening> listening) {
    const std::string endpoint = listening->endpoint;
    listening->listener.reset();
    if (accepting > 0) {
        old_listeners.push_back(std::move(listening));
        later_clean.ask();
    }
    monitor.tell(MonitorEventKind::closed, endpoint, {});
}

void PeerTable::State::take_stream(Dialer& dialer, std::unique_ptr<Stream> stream) {
    Session* session = nullptr;
    try {
        session = &admit(std::move(stream), {dialer.endpoint_text(), nullptr}, &dialer);
    } catch (const std::exception& error) {
        return note_failure(dialer, error.what());
    }
    ++totals.connections_made;
    begin(*session, MonitorEventKind::connected);
}

void PeerTable::State::note_failure(Dialer& dialer, std::string_view why) {
    ++totals.connections_retried;
    dialer.retry();  // first: reporting may exhaust memory
    monitor.tell(MonitorEventKind::retried, dialer.endpoint_text(), why);
}

Session* PeerTable::State::session_of(const Dialer& dialer) const noexcept {
    const auto found =
        std::find_if(notes.begin(), notes.end(), [&](const Note& note) { return note.dialer == &dialer; });
    return found == notes.end() ? nullptr : sessions[static_cast<std::size_t>(found - notes.begin())].get();
}

std::vector<Dialer*> PeerTable::State::dialers_of(const Endpoint& endpoint) const {
    std::vector<Dialer*> result;
    for (const auto& dialer : dialers) {
        if (dialer->endpoint() == endpoint) {
            result.push_back(dialer.get());
        }
    }
    return result;
}

void PeerTable::State::retire(const Dialer& dialer) {
    const auto found =
        std::find_if(dialers.begin(), dialers.end(), [&](const auto& owned) { return owned.get() == &dialer; });
    if (found == dialers.end()) {
        return;
    }
    old_dialers.push_back(std::move(*found));
    dialers.erase(found);
    later_clean.ask();
    if (const auto& outbox = dialer.outbox()) {
        const std::uint64_t lost = outbox->backlog().messages();
        outbox->give_up_all();
        add_deliveries(totals, *outbox);
        if (lost > 0) {
            monitor.tell_dropped(dialer.endpoint_text(), lost);
        }
    }
}

void PeerTable::State::note_opened(Session& session) {
    pending.remove(session);
    if (Dialer* dialer = notes[session.index()].dialer) {
        dialer->note_opened();
    }
    if (monitor.is_on()) {
        const PeerStatus status = session.status();
        monitor.tell(MonitorEventKind::handshake_done, session, status.socket_type + ' ' + status.mechanism, status);
    }
    if (session.state() != Session::State::closed) {
        guard(session, [&] { events.opened(session); });
    }
}

void PeerTable::State::note_ended(Session& session, std::string_view why) {
    if (gone) {
        return;
    }
    const std::size_t index = session.index();
    Note note = notes[index];
    // Nothing before events.ended() allocates: the socket must not keep a session that is destroyed.
    old_sessions.push_back(std::move(sessions[index]));
    if (index + 1 != sessions.size()) {
        sessions[index] = std::move(sessions.back());
        sessions[index]->set_index(index);
        notes[index] = notes.back();
    }
    sessions.pop_back();
    notes.pop_back();
    pending.remove(session);
    dirty.forget(session);
    if (session.stays_in_process()) {
        segments.remove_reader_in_process();
    }
    count_ended(session, note);
    // First, so that the monitor is called when the socket no longer knows the session.
    rethrow_later(reactor, [&] { events.ended(session, why); });
    later_clean.ask();
    rethrow_later(reactor, [&] { tell_ended(session, note, why); });
    if (note.dialer != nullptr) {
        go_on(*note.dialer, session, why);
    }
    tell_if_deserted();
}

void PeerTable::State::count_ended(const Session& session, const Note& note) {
    if (!is_kept(note)) {
        add_deliveries(totals, *session.outbox());
    }
    add_traffic(totals, session);
    if (!session.was_open()) {
        ++totals.handshakes_failed;
    } else if (session.ending() == Session::Ending::violation) {
        ++totals.violations;
    } else if (session.ending() == Session::Ending::silence) {
        ++totals.heartbeat_timeouts;
    }
}

void PeerTable::State::tell_ended(const Session& session, Note& note, std::string_view why) const {
    if (!monitor.is_on()) {
        return;
    }
    monitor.look_for_dropped(session, note.told);
    if (session.was_open()) {
        monitor.tell(MonitorEventKind::disconnected, session, why, session.status());
    } else {
        monitor.tell(MonitorEventKind::handshake_failed, session, why, session.status());
    }
}

void PeerTable::State::go_on(Dialer& dialer, const Session& session, std::string_view why) {
    if (dialer.is_stopped()) {
        return retire(dialer);
    }
    if (session.was_open()) {
        dialer.note_lost(session.was_of_use());
        dialer.retry();
    } else {
        note_failure(dialer, why);
    }
}

}  // namespace telegate
