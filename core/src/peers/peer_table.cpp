#include "peers/peer_table.hpp"

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "core/publisher.hpp"
#include "peers/socket_totals.hpp"
#include "reactor/deadline.hpp"

#include <algorithm>
#include <exception>
#include <random>
#include <stdexcept>
#include <system_error>
#include <variant>

namespace telegate {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds tick_time_min{5};
constexpr milliseconds tick_time_max{1000};
constexpr int ticks_per_deadline = 4;
constexpr std::string_view too_many_handshakes = "too many handshakes at once";
constexpr std::string_view not_read_in_time = "did not read in time";
constexpr std::string_view keys_changed = "keys changed";

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

std::shared_ptr<const Security> shared_at(const Endpoint& endpoint, std::optional<Security> security) {
    if (stays_in_process(endpoint.transport) && security && !std::holds_alternative<std::monostate>(*security)) {
        throw std::invalid_argument(to_string(endpoint) + ": CURVE is not supported over " +
                                    std::string(to_string(endpoint.transport)));
    }
    return security ? std::make_shared<const Security>(std::move(*security)) : nullptr;
}

}  // namespace

PeerTable::PeerTable(Reactor& reactor, const SocketOptions& options, PeerTableOptions table_options,
                     SessionEvents events)
    : reactor_(reactor),
      options_(check_options(options)),
      table_options_(table_options),
      tick_time_(tick_time_for(options_)),
      segments_(options_.segment_bytes),
      buffers_(std::min(options_.receive_buffer_bytes, table_options.receive_buffer_bytes_max)),
      events_(std::move(events)),
      context_{reactor,
               options_,
               table_options.socket_type,
               {[this](Session& session) { on_opened(session); }, std::move(events_.readable),
                [this](Session& session, const zmtp::Command& command) {
                    rethrow_later(reactor_, [&] { events_.command(session, command); });
                },
                std::move(events_.room),
                [this](Session& session, std::string_view why) {
                    on_ended(session, why);
                }},
               buffers_},
      monitor_(reactor),
      listeners_(
          {[this](const Listening& listening, std::unique_ptr<Stream> stream) { accept(listening, std::move(stream)); },
           [this](const Listening& listening, int error) {
               ++totals_.accept_errors;
               monitor_.report(MonitorEventKind::accept_failed, listening.endpoint,
                               std::generic_category().message(error));
           }}),
      closing_(reactor, [this] { cut(); }),
      tick_alarm_(reactor, [this] { tick(); }),
      later_flush_(reactor, [this] { flush_now(); }),
      later_clean_(reactor, [this] { clean(); }) {}

PeerTable::~PeerTable() {
    closing_.destroy();
    sessions_.destroy_all();
}

Endpoint PeerTable::bind(const Endpoint& endpoint, std::optional<Security> security) {
    return listen(endpoint, shared_at(endpoint, std::move(security)), [&](transport::ListenerEvents events) {
        return transport::listen(reactor_, endpoint, options_, std::move(events));
    });
}

Endpoint PeerTable::bind_adopted(const Endpoint& endpoint, int descriptor, std::optional<Security> security) {
    UniqueFd adopted(descriptor);
    // inproc needs no check of the security: its descriptor is refused and closed there.
    auto shared = security ? std::make_shared<const Security>(std::move(*security)) : nullptr;
    return listen(endpoint, std::move(shared), [&](transport::ListenerEvents events) {
        return transport::adopt(reactor_, endpoint, std::move(adopted), std::move(events));
    });
}

bool PeerTable::set_security(const Endpoint& endpoint, Security security) {
    TELEGATE_ASSERT(reactor_.is_current());
    if (!listeners_.set_security(endpoint, shared_at(endpoint, std::move(security)))) {
        return false;
    }
    close_handshakes(to_string(endpoint));
    return true;
}

Endpoint PeerTable::listen(const Endpoint& endpoint, std::shared_ptr<const Security> security,
                           const Listeners::MakeListener& make) {
    TELEGATE_ASSERT(reactor_.is_current());
    check_not_closed();
    try {
        Endpoint bound = listeners_.add(std::move(security), make);
        monitor_.report(MonitorEventKind::listening, to_string(bound), {});
        return bound;
    } catch (const std::system_error& error) {
        monitor_.report(MonitorEventKind::bind_failed, to_string(endpoint), error.what());
        throw;
    }
}

bool PeerTable::unbind(const Endpoint& endpoint) {
    TELEGATE_ASSERT(reactor_.is_current());
    const std::string text = listeners_.remove(endpoint);
    if (text.empty()) {
        return false;
    }
    later_clean_.schedule();
    monitor_.report(MonitorEventKind::closed, text, {});
    return true;
}

std::vector<std::uint64_t> PeerTable::accepted_at(std::string_view endpoint) const {
    std::vector<std::uint64_t> ids;
    for (const Session* session : sessions_.accepted_at(endpoint)) {
        ids.push_back(session->id());
    }
    remote_.add_ids_of(endpoint, ids);
    return ids;
}

std::shared_ptr<Outbox> PeerTable::connect(const Endpoint& endpoint, std::string alias) {
    TELEGATE_ASSERT(reactor_.is_current());
    check_not_closed();
    const bool is_kept =
        table_options_.keep_outbox && (table_options_.socket_type != zmtp::SocketType::router || !alias.empty());
    Dialer::Target target{endpoint, std::move(alias), nullptr};
    if (is_kept) {
        target.outbox = std::make_shared<Outbox>(segments_);
    }
    const ReconnectPause pause(options_.reconnect_first, options_.reconnect_max, std::random_device()());
    Dialer::Events events;
    events.on_stream = [this](Dialer& dialer, std::unique_ptr<Stream> stream) {
        on_stream(dialer, std::move(stream));
    };
    events.on_failure = [this](Dialer& dialer, std::string_view why) {
        on_failure(dialer, why);
    };
    auto dialer = std::make_unique<Dialer>(reactor_, std::move(target), pause, std::move(events));
    dialer->start();
    dialers_.push_back(std::move(dialer));
    return dialers_.back()->outbox();
}

bool PeerTable::disconnect(const Endpoint& endpoint) {
    TELEGATE_ASSERT(reactor_.is_current());
    std::vector<Dialer*> ending;
    for (const auto& dialer : dialers_) {
        if (dialer->endpoint() == endpoint) {
            ending.push_back(dialer.get());
        }
    }
    for (Dialer* dialer : ending) {
        dialer->stop();
    }
    for (Dialer* dialer : ending) {
        if (Session* session = sessions_.of(*dialer)) {
            session->close("disconnected");
        }
        retire(*dialer);
    }
    return !ending.empty();
}

void PeerTable::close(milliseconds grace, std::function<void()> done) {
    TELEGATE_ASSERT(reactor_.is_current());
    if (closing_.begin(std::move(done))) {
        begin_close();
    }
    if (sessions_in_all() == 0) {
        return closing_.finish();
    }
    closing_.set_grace(grace);
}

std::vector<PeerStatus> PeerTable::statuses() const {
    std::vector<PeerStatus> result;
    for (const auto& session : sessions_.all()) {
        if (session->was_open()) {
            result.push_back(session->status());
        }
    }
    return result;
}

void PeerTable::tick() {
    ticking_ = !sessions_.empty();
    if (ticking_) {
        tick_alarm_.set(tick_time_);  // first, so that a failure below does not end the ticks
    }
    const steady_clock::time_point now = steady_clock::now();
    // Backwards: a session that ends is replaced by the last one, which has been checked already.
    for (std::size_t index = sessions_.size(); index-- > 0;) {
        if (index >= sessions_.size()) {
            continue;
        }
        Session& session = sessions_.at(index);
        if (sessions_.note_of(session).cut_at <= now) {
            session.close(not_read_in_time);
            continue;
        }
        session.tick(now);
        if (monitor_.is_on() && session.state() != Session::State::closed) {
            monitor_.report_if_slow(session, sessions_.note_of(session).reported, options_.backlog_bytes_max);
        }
        if (monitor_.is_on() && session.state() != Session::State::closed) {
            monitor_.report_dropped(session, sessions_.note_of(session).reported);
        }
    }
}

void PeerTable::flush_now() {
    if (remote_.flush) {
        later_flush_.schedule();  // again, in case this flush fails
        remote_.flush();          // first, so that all threads write at the same time
    }
    later_flush_.cancel();  // requests from here on may be for another thread, which has already flushed
    try {
        dirty_.flush([this](Session& session) { flush(session); });
    } catch (...) {
        later_flush_.schedule();
        throw;
    }
    if (!dirty_.empty()) {
        later_flush_.schedule();
    }
}

void PeerTable::flush(Session& session) {
    session.flush();
    if (monitor_.is_on() && session.state() != Session::State::closed) {
        monitor_.report_if_slow(session, sessions_.note_of(session).reported, options_.backlog_bytes_max);
    }
}

SocketTotals PeerTable::totals() const {
    SocketTotals sum = totals_;
    for (const auto& session : sessions_.all()) {
        add_traffic(sum, *session);
        if (!sessions_.note_of(*session).is_outbox_kept()) {
            add_deliveries(sum, *session->outbox());
        }
    }
    for (const auto& dialer : dialers_) {
        if (const auto& outbox = dialer->outbox()) {
            add_deliveries(sum, *outbox);
        }
    }
    return sum;
}

void PeerTable::check_not_closed() const {
    if (closing_.state() != SocketClosing::State::open) {
        throw std::logic_error("socket is closed");
    }
}

void PeerTable::report_if_deserted() {
    if (closing_.state() == SocketClosing::State::closing && sessions_in_all() == 0) {
        closing_.finish();
    }
}

void PeerTable::begin_close() {
    for (const Endpoint& endpoint : listeners_.endpoints()) {
        unbind(endpoint);
    }
    std::vector<const Dialer*> idle;
    for (const auto& dialer : dialers_) {
        dialer->stop();
        if (sessions_.of(*dialer) == nullptr) {
            idle.push_back(dialer.get());
        }
    }
    for (const Dialer* dialer : idle) {
        retire(*dialer);
    }
    std::vector<Session*> open;
    for (const auto& session : sessions_.all()) {
        open.push_back(session.get());
    }
    drain(open);
    tick_time_ = std::min(tick_time_, limits::drained_time_max / ticks_per_deadline);
    tick_alarm_.set(tick_time_);
}

void PeerTable::close_accepted(std::string_view endpoint, milliseconds grace) {
    TELEGATE_ASSERT(reactor_.is_current());
    const steady_clock::time_point cut_at = deadline_in(grace);
    const std::vector<Session*> leaving = sessions_.accepted_at(endpoint);
    for (Session* session : leaving) {
        Note& note = sessions_.note_of(*session);
        note.cut_at = std::min(note.cut_at, cut_at);
    }
    drain(leaving);
}

/// Sessions that end meanwhile are kept until a later iteration.
void PeerTable::drain(const std::vector<Session*>& sessions) {
    for (Session* session : sessions) {
        if (session->state() != Session::State::closed) {
            session->drain();
        }
    }
}

void PeerTable::close_handshakes(std::string_view endpoint) {
    TELEGATE_ASSERT(reactor_.is_current());
    // Sessions that end meanwhile are kept until a later iteration.
    for (Session* session : sessions_.accepted_at(endpoint)) {
        if (session->state() == Session::State::handshake) {
            session->close(keys_changed);
        }
    }
}

void PeerTable::cut() {
    while (!sessions_.empty()) {
        sessions_.at(sessions_.size() - 1).close(not_read_in_time);
    }
}

void PeerTable::clean() {
    sessions_.destroy_removed();
    old_dialers_.clear();
    listeners_.destroy_removed();
}

void PeerTable::accept(const Listening& listening, std::unique_ptr<Stream> stream) {
    const std::uint64_t displaced = make_room(*stream);
    if (closing_.state() != SocketClosing::State::open || listening.listener == nullptr) {  // changed by make_room()
        return;
    }
    if (displaced == 0 && sessions_in_all() >= options_.sessions_max) {
        return refuse(listening.endpoint, stream->peer(), too_many_connections);
    }
    // The handshakes are on other threads, where this connection cannot be moved.
    if (displaced == 0 && pending_.size() >= options_.handshakes_max) {
        return refuse(listening.endpoint, stream->peer(), too_many_handshakes);
    }
    if (remote_.hand_over && hand_over(stream, listening, displaced)) {
        return;
    }
    admit_accepted(std::move(stream), listening.endpoint, listening.security);
}

void PeerTable::admit_accepted(std::unique_ptr<Stream> stream, const std::string& endpoint,
                               const std::shared_ptr<const Security>& security) {
    const std::string peer = stream->peer();
    Session* session = nullptr;
    try {
        session = &admit(std::move(stream), endpoint, security, nullptr);
    } catch (const std::exception& error) {
        return refuse(endpoint, peer, error.what());
    }
    ++totals_.connections_accepted;
    begin(*session, MonitorEventKind::accepted);
}

/// Returns true if the connection was moved to another thread.
bool PeerTable::hand_over(std::unique_ptr<Stream>& stream, const Listening& listening, std::uint64_t displaced) {
    const bool is_full = sessions_in_all() >= options_.sessions_max;
    Handover handover{
        std::move(stream), listening.endpoint, listening.security, sessions_seen_ + 1, displaced, is_full, 0};
    if (!remote_.hand_over(handover, sessions_.size())) {
        stream = std::move(handover.stream);
        return false;
    }
    ++sessions_seen_;
    return true;
}

void PeerTable::adopt(Handover handover) {
    TELEGATE_ASSERT(reactor_.is_current());
    if (closing_.state() != SocketClosing::State::open) {
        return;
    }
    Session* const displaced = handover.displaced == 0 ? nullptr : sessions_.find(handover.displaced);
    if (displaced != nullptr && displaced->state() == Session::State::handshake) {
        displaced->close(too_many_handshakes);
    } else if (displaced != nullptr && handover.must_displace) {  // its handshake has finished meanwhile
        return refuse(handover.endpoint, handover.stream->peer(), too_many_connections);
    }
    sessions_seen_ = handover.id - 1;
    admit_accepted(std::move(handover.stream), handover.endpoint, handover.security);
}

void PeerTable::begin(Session& session, MonitorEventKind kind) {
    monitor_.report(kind, session, {});
    if (session.state() != Session::State::closed) {
        session.start();
    }
}

/// When a limit is reached, closes a handshake of the client that makes way, or a retiring session if there is none.
/// Returns the id of a handshake to be displaced on another thread, or 0.
std::uint64_t PeerTable::make_room(const Stream& stream) {
    const bool only_here = stream.stays_in_process();  // it cannot take a place on another thread
    const std::string client = stream.client();
    std::uint64_t displaced = 0;
    if (!stream.address().empty() && pending_.size_of(client) >= options_.handshakes_per_address_max) {
        displaced = displace(pending_.oldest(client, only_here));
    } else if (pending_.size() >= options_.handshakes_max) {
        displaced = displace(pending_.to_displace(pending_.shares(), client, only_here));
    }
    if (displaced == 0 && sessions_in_all() >= options_.sessions_max) {
        displaced = displace(pending_.to_displace(places_.shares(), client, only_here));
        Session* const retiring =
            displaced == 0 && sessions_in_all() >= options_.sessions_max ? sessions_.first_retiring() : nullptr;
        if (retiring != nullptr) {
            retiring->retire(too_many_connections);  // the second call closes
        }
    }
    if (displaced == 0 && sessions_in_all() >= options_.sessions_max) {
        places_.make_place(client, sessions_, remote_);
    }
    return displaced;
}

/// Displaces a handshake on this thread. Returns the id of one on another thread, or 0.
std::uint64_t PeerTable::displace(const PendingHandshakes::Handshake& oldest) {
    if (oldest.session == nullptr) {
        return oldest.id;
    }
    oldest.session->close(too_many_handshakes);
    return 0;
}

void PeerTable::refuse(const std::string& endpoint, const std::string& peer, std::string_view why) {
    ++totals_.connections_refused;
    monitor_.report(MonitorEventKind::refused, endpoint, why, peer);
}

/// Creates a session without starting it. Throws std::system_error if the event loop cannot watch more descriptors.
Session& PeerTable::admit(std::unique_ptr<Stream> stream, const std::string& endpoint,
                          const std::shared_ptr<const Security>& security, Dialer* dialer) {
    Session::Arrival arrival;
    arrival.stream = std::move(stream);
    arrival.id = sessions_seen_ + 1;
    arrival.endpoint = endpoint;
    arrival.security = security;
    arrival.alias = dialer != nullptr ? dialer->alias() : std::string();
    arrival.initiator = dialer != nullptr;
    arrival.keep_outbox = dialer != nullptr && dialer->outbox() != nullptr;
    arrival.outbox = arrival.keep_outbox ? dialer->outbox() : std::make_shared<Outbox>(segments_);
    const std::uint64_t dropped_before = arrival.outbox->dropped();
    auto session = std::make_unique<Session>(context_, std::move(arrival));
    if (!ticking_) {
        tick_alarm_.set(tick_time_);
        ticking_ = true;
    }
    if (dialer == nullptr) {
        places_.add({session->id(), session.get()}, session->client());
    }
    ++sessions_seen_;
    Session& added = sessions_.add(std::move(session), {dialer, {false, dropped_before}});
    if (added.stays_in_process()) {
        segments_.add_reader_in_process();
    }
    return added;
}

void PeerTable::on_stream(Dialer& dialer, std::unique_ptr<Stream> stream) {
    Session* session = nullptr;
    try {
        session = &admit(std::move(stream), dialer.endpoint_text(), nullptr, &dialer);
    } catch (const std::exception& error) {
        return on_failure(dialer, error.what());
    }
    ++totals_.connections_made;
    begin(*session, MonitorEventKind::connected);
}

void PeerTable::on_failure(Dialer& dialer, std::string_view why) {
    ++totals_.connections_retried;
    dialer.retry();  // first: reporting may exhaust memory
    monitor_.report(MonitorEventKind::retried, dialer.endpoint_text(), why);
}

void PeerTable::retire(const Dialer& dialer) {
    const auto found =
        std::find_if(dialers_.begin(), dialers_.end(), [&](const auto& owned) { return owned.get() == &dialer; });
    if (found == dialers_.end()) {
        return;
    }
    old_dialers_.push_back(std::move(*found));
    dialers_.erase(found);
    later_clean_.schedule();
    if (const auto& outbox = dialer.outbox()) {
        const std::uint64_t lost = outbox->backlog().messages();
        outbox->drop_all();
        add_deliveries(totals_, *outbox);
        if (lost > 0) {
            // without a peer: the messages were waiting for the next connection
            monitor_.report({MonitorEventKind::dropped, dialer.endpoint_text(), {}, 0, {}, lost, nullptr});
        }
    }
}

void PeerTable::on_opened(Session& session) {
    pending_.remove(session.id());
    if (Dialer* dialer = sessions_.note_of(session).dialer) {
        dialer->record_opened();
    }
    if (monitor_.is_on()) {
        const PeerStatus status = session.status();
        const std::string detail = status.socket_type + ' ' + std::string(to_string(status.mechanism));
        monitor_.report(MonitorEventKind::handshake_done, session, detail, status);
    }
    if (session.state() != Session::State::closed) {
        rethrow_later(reactor_, [&] { events_.opened(session); });
    }
}

void PeerTable::on_ended(Session& session, std::string_view why) {
    if (closing_.state() == SocketClosing::State::destroyed) {
        return;
    }
    // Nothing before events.ended() allocates: the socket must not keep a session that is destroyed.
    Note note = sessions_.remove(session);
    note.dialer == nullptr ? places_.remove(session.id(), session.client()) : places_.end_handshake(session.id());
    dirty_.forget(session);
    if (session.stays_in_process()) {
        segments_.remove_reader_in_process();
    }
    count_ended(session, note);
    // First, so that the monitor is called when the socket no longer knows the session.
    rethrow_later(reactor_, [&] { events_.ended(session, why); });
    later_clean_.schedule();
    rethrow_later(reactor_, [&] { report_ended(session, note, why); });
    if (note.dialer != nullptr) {
        go_on(*note.dialer, session, why);
    }
    report_if_deserted();
}

void PeerTable::count_ended(const Session& session, const Note& note) {
    if (!note.is_outbox_kept()) {
        add_deliveries(totals_, *session.outbox());
    }
    add_traffic(totals_, session);
    if (!session.was_open()) {
        ++totals_.handshakes_failed;
    } else if (session.ending() == PeerEnding::violation) {
        ++totals_.violations;
    } else if (session.ending() == PeerEnding::silence) {
        ++totals_.heartbeat_timeouts;
    }
}

void PeerTable::report_ended(const Session& session, Note& note, std::string_view why) const {
    if (!monitor_.is_on()) {
        return;
    }
    monitor_.report_dropped(session, note.reported);
    const auto kind = session.was_open() ? MonitorEventKind::disconnected : MonitorEventKind::handshake_failed;
    monitor_.report(kind, session, why, session.status());
}

void PeerTable::go_on(Dialer& dialer, const Session& session, std::string_view why) {
    if (dialer.is_stopped()) {
        return retire(dialer);
    }
    if (session.was_open()) {
        dialer.record_lost(session.was_of_use());
        dialer.retry();
    } else {
        on_failure(dialer, why);
    }
}

}  // namespace telegate
