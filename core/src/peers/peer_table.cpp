#include "peers/peer_table.hpp"

#include "core/assert.hpp"
#include "peers/peer_table_state.hpp"
#include "reactor/deadline.hpp"

#include <random>
#include <system_error>
#include <utility>

namespace telegate {

PeerTable::PeerTable(Reactor& reactor, const SocketOptions& options, PeerTableOptions table_options,
                     SessionEvents events)
    : state_(std::make_unique<State>(reactor, check_options(options), table_options, std::move(events))) {}

PeerTable::~PeerTable() = default;

Endpoint PeerTable::bind(const Endpoint& endpoint, std::shared_ptr<const Security> security) {
    return listen(endpoint, std::move(security), [&](transport::ListenerEvents events) {
        return transport::listen(state_->reactor, endpoint, state_->options, std::move(events));
    });
}

Endpoint PeerTable::bind_adopted(const Endpoint& endpoint, int descriptor, std::shared_ptr<const Security> security) {
    UniqueFd adopted(descriptor);
    return listen(endpoint, std::move(security), [&](transport::ListenerEvents events) {
        return transport::adopt(state_->reactor, endpoint, std::move(adopted), std::move(events));
    });
}

bool PeerTable::set_security(const Endpoint& endpoint, std::shared_ptr<const Security> security) {
    TELEGATE_ASSERT(state_->reactor.is_current());
    return state_->listeners.set_security(endpoint, std::move(security));
}

void PeerTable::close_handshakes(std::string_view endpoint, std::string_view why) {
    TELEGATE_ASSERT(state_->reactor.is_current());
    state_->close_handshakes(endpoint, why);
}

Endpoint PeerTable::listen(const Endpoint& endpoint, std::shared_ptr<const Security> security,
                           const Listeners::MakeListener& make) {
    State& state = *state_;
    TELEGATE_ASSERT(state.reactor.is_current());
    state.check_not_closed();
    try {
        Endpoint bound = state.listeners.add(std::move(security), make);
        state.monitor.tell(MonitorEventKind::listening, to_string(bound), {});
        return bound;
    } catch (const std::system_error& error) {
        state.monitor.tell(MonitorEventKind::bind_failed, to_string(endpoint), error.what());
        throw;
    }
}

bool PeerTable::unbind(const Endpoint& endpoint) {
    TELEGATE_ASSERT(state_->reactor.is_current());
    return state_->stop_listening(endpoint);
}

std::vector<std::uint64_t> PeerTable::accepted_at(std::string_view endpoint) const {
    std::vector<std::uint64_t> ids;
    for (const Session* session : state_->sessions.accepted_at(endpoint)) {
        ids.push_back(session->id());
    }
    if (state_->table_options.remote != nullptr) {
        state_->table_options.remote->add_ids_of(endpoint, ids);
    }
    return ids;
}

void PeerTable::close_accepted(std::string_view endpoint, std::chrono::milliseconds grace) {
    TELEGATE_ASSERT(state_->reactor.is_current());
    state_->close_accepted(endpoint, deadline_in(grace));
}

std::shared_ptr<Outbox> PeerTable::connect(const Endpoint& endpoint, std::string alias) {
    State& state = *state_;
    TELEGATE_ASSERT(state.reactor.is_current());
    state.check_not_closed();
    const bool is_kept = state.table_options.keep_outbox &&
                         (state.table_options.socket_type != zmtp::SocketType::router || !alias.empty());
    Dialer::Target target{endpoint, std::move(alias), nullptr};
    if (is_kept) {
        target.outbox = std::make_shared<Outbox>(state.segments);
    }
    const ReconnectPause pause(state.options.reconnect_first, state.options.reconnect_max, std::random_device()());
    Dialer::Events events;
    events.on_stream = [&state](Dialer& dialer, std::unique_ptr<Stream> stream) {
        state.take_stream(dialer, std::move(stream));
    };
    events.on_failure = [&state](Dialer& dialer, std::string_view why) {
        state.note_failure(dialer, why);
    };
    auto dialer = std::make_unique<Dialer>(state.reactor, std::move(target), pause, std::move(events));
    dialer->start();
    state.dialers.push_back(std::move(dialer));
    return state.dialers.back()->outbox();
}

bool PeerTable::disconnect(const Endpoint& endpoint) {
    State& state = *state_;
    TELEGATE_ASSERT(state.reactor.is_current());
    const std::vector<Dialer*> ending = state.dialers_of(endpoint);
    for (Dialer* dialer : ending) {
        dialer->stop();
    }
    for (Dialer* dialer : ending) {
        if (Session* session = state.sessions.of(*dialer)) {
            session->close("disconnected");
        }
        state.retire(*dialer);
    }
    return !ending.empty();
}

std::vector<Endpoint> PeerTable::endpoints() const {
    return state_->listeners.endpoints();
}

void PeerTable::adopt(Handover handover) {
    TELEGATE_ASSERT(state_->reactor.is_current());
    state_->adopt(std::move(handover));
}

void PeerTable::note_remote_ended() {
    state_->tell_if_deserted();
}

void PeerTable::set_held(bool held) noexcept {
    state_->context.is_held = held;
}

const std::vector<std::unique_ptr<Session>>& PeerTable::sessions() const noexcept {
    return state_->sessions.all();
}

Session* PeerTable::find(std::uint64_t id) noexcept {
    return state_->sessions.find(id);
}

void PeerTable::mark(Session& session) {
    state_->dirty.mark(session);
}

void PeerTable::flush_soon() {
    state_->later_flush.ask();
}

void PeerTable::flush() {
    TELEGATE_ASSERT(state_->reactor.is_current());
    state_->flush();
}

void PeerTable::flush_marked() {
    if (!state_->dirty.empty()) {
        flush();
    }
}

const std::uint64_t& PeerTable::flushes() const noexcept {
    return state_->dirty.flushes();
}

void PeerTable::close(std::chrono::milliseconds grace, std::function<void()> done) {
    State& state = *state_;
    TELEGATE_ASSERT(state.reactor.is_current());
    if (state.closing.begin(std::move(done))) {
        state.begin_close();
    }
    if (state.is_deserted()) {
        return state.closing.finish();
    }
    state.closing.set_grace(grace);
}

bool PeerTable::is_closing() const noexcept {
    return state_->closing.state() != SocketClosing::State::open;
}

void PeerTable::set_monitor(MonitorHandler handler) {
    state_->monitor.set(std::move(handler));
}

void PeerTable::tell(MonitorEventKind kind, const Session& session, std::string_view detail, std::uint64_t count) {
    state_->monitor.tell(kind, session, detail, count);
}

void PeerTable::tell(const MonitorEvent& event) {
    state_->monitor.tell(event);
}

std::vector<PeerStatus> PeerTable::statuses() const {
    std::vector<PeerStatus> result;
    for (const auto& session : state_->sessions.all()) {
        if (session->was_open()) {
            result.push_back(session->status());
        }
    }
    return result;
}

SocketTotals PeerTable::totals() const {
    return state_->sum();
}

SegmentPool& PeerTable::segments() noexcept {
    return state_->segments;
}

}  // namespace telegate
