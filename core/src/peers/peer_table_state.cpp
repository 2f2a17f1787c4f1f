#include "peers/peer_table_state.hpp"
#include "peers/socket_totals.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace telegate {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds tick_time_min{5};
constexpr milliseconds tick_time_max{1000};
constexpr int ticks_per_deadline = 4;
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

/// Returns true if the outbox belongs to the dialer, where it is counted.
bool PeerTable::State::is_kept(const Note& note) noexcept {
    return note.dialer != nullptr && note.dialer->outbox() != nullptr;
}

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
      tick_alarm(reactor, [this] { tick(); }),
      grace_alarm(reactor, [this] { cut(); }),
      later_flush(reactor, [this] { flush(); }),
      later_clean(reactor, [this] { clean(); }),
      later_closed(reactor, [this] { tell_closed(); }) {
    events.opened = or_nothing(std::move(events.opened));
    events.command = or_nothing(std::move(events.command));
    events.ended = or_nothing(std::move(events.ended));
}

PeerTable::State::~State() {
    gone = true;
    sessions.clear();
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
        Session& session = *sessions[index];
        if (notes[index].cut_at <= now) {
            session.close(not_read_in_time);
            continue;
        }
        guard(session, [&] { session.tick(now); });
        if (monitor.is_on() && session.state() != Session::State::closed) {
            monitor.look_for_slow(session, notes[session.index()].told, options.backlog_bytes_max);
        }
        if (monitor.is_on() && session.state() != Session::State::closed) {
            monitor.look_for_dropped(session, notes[session.index()].told);
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
        monitor.look_for_slow(session, notes[session.index()].told, options.backlog_bytes_max);
    }
}

SocketTotals PeerTable::State::sum() const {
    SocketTotals sum = totals;
    for (std::size_t index = 0; index < sessions.size(); ++index) {
        add_traffic(sum, *sessions[index]);
        if (!is_kept(notes[index])) {
            add_deliveries(sum, *sessions[index]->outbox());
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
    if (closing) {
        throw std::logic_error("socket is closed");
    }
}

std::size_t PeerTable::State::sessions_in_all() const noexcept {
    return sessions.size() + (table_options.remote == nullptr ? 0 : table_options.remote->size());
}

std::size_t PeerTable::State::pending_in_all() const noexcept {
    return pending.size() + (table_options.remote == nullptr ? 0 : table_options.remote->pending());
}

Session* PeerTable::State::find(std::uint64_t id) const noexcept {
    const auto found =
        std::find_if(sessions.begin(), sessions.end(), [&](const auto& each) { return each->id() == id; });
    return found == sessions.end() ? nullptr : found->get();
}

void PeerTable::State::tell_if_deserted() {
    if (closing && is_deserted()) {
        later_closed.ask();  // first: ask() may throw
        grace_alarm.cancel();
    }
}

/// Makes one call per event-loop iteration: it may destroy the socket, or throw.
void PeerTable::State::tell_closed() {
    if (on_closed.empty()) {
        return;
    }
    const std::function<void()> done = std::move(on_closed.front());
    on_closed.erase(on_closed.begin());
    if (!on_closed.empty()) {
        later_closed.ask();
    }
    done();
}

void PeerTable::State::begin_close() {
    for (auto& listening : std::exchange(listeners, {})) {
        stop_listening(std::move(listening));
    }
    std::vector<const Dialer*> idle;
    for (const auto& dialer : dialers) {
        dialer->stop();
        if (session_of(*dialer) == nullptr) {
            idle.push_back(dialer.get());
        }
    }
    for (const Dialer* dialer : idle) {
        retire(*dialer);
    }
    std::vector<Session*> open;  // sessions that end meanwhile are kept until a later iteration
    for (const auto& session : sessions) {
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
    std::vector<Session*> leaving;  // sessions that end meanwhile are kept until a later iteration
    for (std::size_t index = 0; index < sessions.size(); ++index) {
        if (!sessions[index]->initiator() && sessions[index]->endpoint() == endpoint) {
            notes[index].cut_at = std::min(notes[index].cut_at, cut_at);
            leaving.push_back(sessions[index].get());
        }
    }
    for (Session* session : leaving) {
        if (session->state() != Session::State::closed) {
            session->drain();
        }
    }
}

void PeerTable::State::close_handshakes(std::string_view endpoint, std::string_view why) {
    std::vector<Session*> unfinished;  // sessions that end meanwhile are kept until a later iteration
    for (const auto& session : sessions) {
        if (!session->initiator() && session->state() == Session::State::handshake && session->endpoint() == endpoint) {
            unfinished.push_back(session.get());
        }
    }
    for (Session* session : unfinished) {
        session->close(why);
    }
}

void PeerTable::State::cut() {
    while (!sessions.empty()) {
        sessions.back()->close(not_read_in_time);
    }
}

void PeerTable::State::clean() {
    old_sessions.clear();
    old_dialers.clear();
    old_listeners.clear();
}

}  // namespace telegate
