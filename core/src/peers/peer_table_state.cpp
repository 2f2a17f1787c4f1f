#include "peers/peer_table_state.hpp"
#include "peers/socket_totals.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds tick_time_min{5};
constexpr milliseconds tick_time_max{1000};
constexpr int ticks_per_deadline = 4;
constexpr std::string_view too_many_connections = "too many connections";
constexpr std::string_view too_many_handshakes = "too many handshakes at once";
constexpr std::string_view not_read_in_time = "did not read in time";

/// Returns how often deadlines are checked: more often if they are short. A heartbeat time of zero means none.
milliseconds tick_time_for(const SocketOptions& options) {
    milliseconds time = tick_time_max;
    for (const milliseconds deadline :
         {options.handshake_time_max, options.heartbeat_interval, options.heartbeat_timeout}) {
        if (deadline > milliseconds(0)) {
            time = std::min(time, deadline / ticks_per_deadline);
        }
    }
    return std::max(time, tick_time_min);
}

template <class Call>
Call or_nothing(Call call) {
    return call ? std::move(call) : Call([](auto&&...) {});
}

}  // namespace

PeerTable::State::State(Reactor& reactor_in, const SocketOptions& options_in, PeerTableOptions table_in,
                        SessionEvents events_in)
    : reactor(reactor_in),
      options(options_in),
      table_options(table_in),
      tick_time(tick_time_for(options)),
      segments(options.segment_bytes),
      buffers(std::min(options.receive_buffer_bytes, table_in.receive_buffer_bytes_max)),
      events(std::move(events_in)),
      context{reactor,
              options,
              table_in.socket_type,
              {[this](Session& session) { note_opened(session); }, or_nothing(std::move(events.readable)),
               [this](Session& session, const zmtp::Command& command) {
                   guard(session, [&] { events.command(session, command); });
               },
               std::move(events.room),
               [this](Session& session, std::string_view why) {
                   note_ended(session, why);
               }},
              buffers},
      monitor(reactor),
      listeners(
          {[this](const Listening& listening, std::unique_ptr<Stream> stream) { accept(listening, std::move(stream)); },
           [this](const Listening& listening, int error) {
               note_accept_error(listening, error);
           }}),
      closing(reactor, [this] { cut(); }),
      tick_alarm(reactor, [this] { tick(); }),
      later_flush(reactor, [this] { flush(); }),
      later_clean(reactor, [this] { clean(); }) {
    events.opened = or_nothing(std::move(events.opened));
    events.command = or_nothing(std::move(events.command));
    events.ended = or_nothing(std::move(events.ended));
}

PeerTable::State::~State() {
    closing.destroy();
    sessions.destroy_all();
}

void PeerTable::State::tick() {
    ticking = !sessions.empty();
    if (ticking) {
        tick_alarm.set(tick_time);  // first, so that a failure below does not end the ticks
    }
    const steady_clock::time_point now = steady_clock::now();
    // Backwards: a session that ends is replaced by the last one, which has been checked already.
    for (std::size_t index = sessions.size(); index-- > 0;) {
        if (index >= sessions.size()) {
            continue;
        }
        Session& session = sessions.at(index);
        if (sessions.note(session).cut_at <= now) {
            session.close(not_read_in_time);
            continue;
        }
        guard(session, [&] { session.tick(now); });
        if (monitor.is_on() && session.state() != Session::State::closed) {
            monitor.look_for_slow(session, sessions.note(session).reported, options.backlog_bytes_max);
        }
        if (monitor.is_on() && session.state() != Session::State::closed) {
            monitor.look_for_dropped(session, sessions.note(session).reported);
        }
    }
}

void PeerTable::State::flush() {
    if (table_options.remote != nullptr) {
        later_flush.ask();              // again, in case this flush fails
        table_options.remote->flush();  // first, so that all threads write at the same time
    }
    later_flush.cancel();  // requests from here on may be for another thread, which has already flushed
    try {
        dirty.flush([this](Session& session) { flush(session); });
    } catch (...) {
        later_flush.ask();
        throw;
    }
    if (!dirty.empty()) {
        later_flush.ask();
    }
}

void PeerTable::State::flush(Session& session) {
    guard(session, [&] { session.flush(); });
    if (monitor.is_on() && session.state() != Session::State::closed) {
        monitor.look_for_slow(session, sessions.note(session).reported, options.backlog_bytes_max);
    }
}

SocketTotals PeerTable::State::sum() const {
    SocketTotals sum = totals;
    for (const auto& session : sessions.all()) {
        add_traffic(sum, *session);
        if (!sessions.note(*session).is_outbox_kept()) {
            add_deliveries(sum, *session->outbox());
        }
    }
    for (const auto& dialer : dialers) {
        if (const auto& outbox = dialer->outbox()) {
            add_deliveries(sum, *outbox);
        }
    }
    return sum;
}

void PeerTable::State::check_not_closed() const {
    if (closing.state() != SocketClosing::State::open) {
        throw std::logic_error("socket is closed");
    }
}

std::size_t PeerTable::State::sessions_in_all() const noexcept {
    return sessions.size() + (table_options.remote == nullptr ? 0 : table_options.remote->size());
}

std::size_t PeerTable::State::pending_in_all() const noexcept {
    return pending.size() + (table_options.remote == nullptr ? 0 : table_options.remote->pending());
}

void PeerTable::State::tell_if_deserted() {
    if (closing.state() == SocketClosing::State::closing && is_deserted()) {
        closing.finish();
    }
}

void PeerTable::State::begin_close() {
    for (const Endpoint& endpoint : listeners.endpoints()) {
        stop_listening(endpoint);
    }
    std::vector<const Dialer*> idle;
    for (const auto& dialer : dialers) {
        dialer->stop();
        if (sessions.of(*dialer) == nullptr) {
            idle.push_back(dialer.get());
        }
    }
    for (const Dialer* dialer : idle) {
        retire(*dialer);
    }
    std::vector<Session*> open;  // sessions that end meanwhile are kept until a later iteration
    for (const auto& session : sessions.all()) {
        open.push_back(session.get());
    }
    for (Session* session : open) {
        if (session->state() != Session::State::closed) {
            session->drain();
        }
    }
    tick_time = std::min(tick_time, limits::drained_time_max / ticks_per_deadline);
    tick_alarm.set(tick_time);
}

void PeerTable::State::close_accepted(std::string_view endpoint, steady_clock::time_point cut_at) {
    const std::vector<Session*> leaving = sessions.accepted_at(endpoint);
    for (Session* session : leaving) {
        Note& note = sessions.note(*session);
        note.cut_at = std::min(note.cut_at, cut_at);
    }
    for (Session* session : leaving) {  // sessions that end meanwhile are kept until a later iteration
        if (session->state() != Session::State::closed) {
            session->drain();
        }
    }
}

void PeerTable::State::close_handshakes(std::string_view endpoint, std::string_view why) {
    for (Session* session :
         sessions.accepted_at(endpoint)) {  // those that end meanwhile are kept until a later iteration
        if (session->state() == Session::State::handshake) {
            session->close(why);
        }
    }
}

void PeerTable::State::cut() {
    while (!sessions.empty()) {
        sessions.at(sessions.size() - 1).close(not_read_in_time);
    }
}

void PeerTable::State::clean() {
    sessions.destroy_removed();
    old_dialers.clear();
    listeners.destroy_removed();
}

void PeerTable::State::accept(const Listening& listening, std::unique_ptr<Stream> stream) {
    const std::uint64_t displaced = make_room(*stream);
    if (closing.state() != SocketClosing::State::open || listening.listener == nullptr) {  // changed by make_room()
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
    if (closing.state() != SocketClosing::State::open) {
        return;
    }
    Session* const displaced = handover.displaced == 0 ? nullptr : sessions.find(handover.displaced);
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
            displaced == 0 && sessions_in_all() >= options.sessions_max ? sessions.first_retiring() : nullptr;
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

void PeerTable::State::refuse(const std::string& endpoint, const std::string& peer, std::string_view why) {
    ++totals.connections_refused;
    monitor.tell(MonitorEventKind::refused, endpoint, why, peer);
}

void PeerTable::State::note_accept_error(const Listening& listening, int error) {
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
    sessions.reserve();
    if (!ticking) {
        tick_alarm.set(tick_time);
        ticking = true;
    }
    if (dialer == nullptr) {
        pending.add(*session);
    }
    ++sessions_seen;
    Session& added = sessions.add(std::move(session), {dialer, {false, dropped_before}});
    if (added.stays_in_process()) {
        segments.add_reader_in_process();
    }
    return added;
}

bool PeerTable::State::stop_listening(const Endpoint& endpoint) {
    const std::string text = listeners.remove(endpoint);
    if (text.empty()) {
        return false;
    }
    if (listeners.has_removed()) {
        later_clean.ask();
    }
    monitor.tell(MonitorEventKind::closed, text, {});
    return true;
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
        outbox->drop_all();
        add_deliveries(totals, *outbox);
        if (lost > 0) {
            monitor.tell_dropped(dialer.endpoint_text(), lost);
        }
    }
}

void PeerTable::State::note_opened(Session& session) {
    pending.remove(session);
    if (Dialer* dialer = sessions.note(session).dialer) {
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
    if (closing.state() == SocketClosing::State::destroyed) {
        return;
    }
    // Nothing before events.ended() allocates: the socket must not keep a session that is destroyed.
    Note note = sessions.remove(session);
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
    if (!note.is_outbox_kept()) {
        add_deliveries(totals, *session.outbox());
    }
    add_traffic(totals, session);
    if (!session.was_open()) {
        ++totals.handshakes_failed;
    } else if (session.ending() == PeerEnding::violation) {
        ++totals.violations;
    } else if (session.ending() == PeerEnding::silence) {
        ++totals.heartbeat_timeouts;
    }
}

void PeerTable::State::tell_ended(const Session& session, Note& note, std::string_view why) const {
    if (!monitor.is_on()) {
        return;
    }
    monitor.look_for_dropped(session, note.reported);
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
