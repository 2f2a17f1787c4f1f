#include "core/router.hpp"

#include "core/limits.hpp"
#include "core/watch.hpp"
#include "peers/fair_queue.hpp"
#include "peers/peer_table.hpp"
#include "sockets/identity.hpp"
#include "sockets/route.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace telegate {

namespace {

constexpr std::string_view taken_over = "identity taken over";

struct Peer {
    Route route;
    std::optional<Endpoint> alias_of;  // remains known while it is disconnected
};

struct IdentityHash : std::hash<std::string_view> {
    using is_transparent = void;
};
using Peers = std::unordered_map<std::string, Peer, IdentityHash, std::equal_to<>>;

}  // namespace

struct Router::State {
    State(Reactor& reactor, SocketOptions socket_options);

    [[nodiscard]] SessionEvents events();
    void opened(Session& session);
    void name_automatically(Session& session);
    [[nodiscard]] bool is_taken(std::string_view identity) const;
    [[nodiscard]] Session* holder_of(std::string_view identity) const;
    [[nodiscard]] Session* last_retiring(std::string_view identity) const;
    void retire(Session& older);
    void ended(Session& session);
    void room(Session& session);
    void notify_writable(std::string_view identity);

    [[nodiscard]] Peers::value_type* find(std::string_view identity);
    [[nodiscard]] bool is_last(std::string_view identity) const noexcept {
        return last != nullptr && are_same(last->first, identity);
    }
    /// Sends one short frame to the same peer as before, in a few steps. Otherwise returns false and does nothing.
    template <class Frames>
    [[nodiscard]] bool send_short_on(std::string_view identity, const Frames& frames) noexcept {
        return is_last(identity) && last->second.route.send_short_on(frames);
    }
    /// Sends any other message. Not inlined, so that Router::send() stays short.
    template <class Frames>
    [[nodiscard, gnu::noinline]] SendStatus send(std::string_view identity, Frames frames) {
        const bool is_sent = is_last(identity) && last->second.route.send_on(frames);
        return is_sent ? SendStatus::sent : send_anew(identity, frames);
    }
    template <class Frames>
    [[nodiscard]] SendStatus send_anew(std::string_view identity, const Frames& frames);
    void forget_aliases(const Endpoint& endpoint);

    const SocketOptions options;
    FairQueue queue;
    AutomaticIdentities automatic_identities;
    std::function<void(std::string_view peer)> on_writable;
    /// Peers that were full when they disconnected; listed until on_writable is called for them.
    std::vector<std::string> gone;
    Later late_writable;
    bool is_closing = false;
    PeerTable table;
    RouteContext routes{table, options.backlog_bytes_max};
    Peers peers;                        // their outboxes use the table's memory
    Peers::value_type* last = nullptr;  // the peer that send() looked up last
    std::vector<Session*> retiring;     // sessions whose identity was taken over; oldest first
};

Router::State::State(Reactor& reactor, SocketOptions socket_options)
    : options(std::move(socket_options)),
      queue(reactor),
      late_writable(reactor,
                    [this] {
                        for (const std::string& identity : std::exchange(gone, {})) {
                            notify_writable(identity);
                        }
                    }),
      table(reactor, options, {.socket_type = zmtp::SocketType::router, .keep_outbox = true}, events()) {}

SessionEvents Router::State::events() {
    return {
        .opened = [this](Session& session) { opened(session); },
        .readable = [this](Session& session) { queue.add(session); },
        .room = [this](Session& session) { room(session); },
        .ended = [this](Session& session, std::string_view) { ended(session); },
    };
}

void Router::State::opened(Session& session) {
    const auto found = peers.find(session.identity());
    const bool is_alias = found != peers.end() && found->second.alias_of.has_value();
    if (is_alias && found->second.route.leads_to(*session.outbox())) {
        found->second.route.attach(session);
        table.flush_soon(session);
    } else if (is_alias || session.identity().empty()) {
        // a peer that sends an alias as its identity is not taken for the peer that we gave the alias to
        name_automatically(session);
    } else {
        Session* const older = holder_of(session.identity());
        if (older != nullptr && older->peer().curve_key != session.peer().curve_key) {
            return session.close("identity in use by a peer with a different key");
        }
        peers.insert_or_assign(session.identity(), Peer{Route(session), std::nullopt});
        if (older != nullptr && !older->is_caught_up()) {
            queue.hold(session, *older);
        }
        if (older != nullptr) {
            retire(*older);
        }
    }
    notify_writable(session.identity());
}

void Router::State::name_automatically(Session& session) {
    do {
        session.set_identity(automatic_identities.next());
    } while (is_taken(session.identity()));
    peers.emplace(session.identity(), Peer{Route(session), std::nullopt});
}

bool Router::State::is_taken(std::string_view identity) const {
    return peers.contains(identity) || last_retiring(identity) != nullptr;
}

/// Returns the session that has this identity, or had it and still has data to deliver.
Session* Router::State::holder_of(std::string_view identity) const {
    const auto found = peers.find(identity);
    return found != peers.end() ? found->second.route.session() : last_retiring(identity);
}

Session* Router::State::last_retiring(std::string_view identity) const {
    const auto found = std::find_if(retiring.rbegin(), retiring.rend(),
                                    [&](const Session* session) { return session->identity() == identity; });
    return found == retiring.rend() ? nullptr : *found;
}

/// Retires the older session: data that it sent before is still delivered. A session that is already retiring
/// continues.
void Router::State::retire(Session& older) {
    if (std::find(retiring.begin(), retiring.end(), &older) != retiring.end()) {
        return;
    }
    retiring.push_back(&older);
    queue.resume(older);  // the data that it sent blocks its successor
    older.retire(taken_over);
    const auto is_namesake = [&](const Session* session) {
        return session->identity() == older.identity();
    };
    const auto namesakes = std::count_if(retiring.begin(), retiring.end(), is_namesake);
    if (static_cast<std::size_t>(namesakes) > limits::retiring_per_identity_max) {
        (*std::find_if(retiring.begin(), retiring.end(), is_namesake))->retire(taken_over);  // second call: closes
    }
}

void Router::State::ended(Session& session) {
    std::erase(retiring, &session);
    const auto found = peers.find(session.identity());
    const bool is_known = found != peers.end() && found->second.route.session() == &session;
    Peers::node_type left;
    if (is_known && found->second.alias_of.has_value()) {
        found->second.route.detach();
    } else if (is_known) {
        last = last == &*found ? nullptr : last;
        left = peers.extract(found);
    }
    queue.remove(session);  // from here on memory may be exhausted, and no reference to the session is left
    if (!left.empty() && left.mapped().route.take_refused()) {
        gone.push_back(std::move(left.key()));
        late_writable.schedule();  // not called here: the handler may receive, and this may be within receive()
    }
}

void Router::State::room(Session& session) {
    const auto found = peers.find(session.identity());
    if (found != peers.end() && found->second.route.session() == &session && found->second.route.take_refused()) {
        notify_writable(session.identity());
    }
}

void Router::State::notify_writable(std::string_view identity) {
    if (const auto handler = on_writable) {  // a copy, because it may set another one
        handler(identity);
    }
}

Peers::value_type* Router::State::find(std::string_view identity) {
    if (!is_last(identity)) {
        const auto found = peers.find(identity);
        if (found == peers.end()) {
            return nullptr;
        }
        last = &*found;
    }
    return last;
}

/// Sends to any peer, with all the work that may be needed.
template <class Frames>
SendStatus Router::State::send_anew(std::string_view identity, const Frames& frames) {
    check_frames(frames.size());
    auto* const found = is_closing ? nullptr : find(identity);
    if (found == nullptr) {
        return SendStatus::unknown_peer;
    }
    return found->second.route.send(routes, frames) ? SendStatus::sent : SendStatus::full;
}

void Router::State::forget_aliases(const Endpoint& endpoint) {
    last = nullptr;
    std::erase_if(peers, [&](const auto& entry) { return entry.second.alias_of == endpoint; });
}

Router::Router(std::unique_ptr<State> state) : ReceivingSocket(state->table, state->queue), state_(std::move(state)) {}
Router::Router(Reactor& reactor, SocketOptions options)
    : Router(std::make_unique<State>(reactor, std::move(options))) {}
Router::~Router() = default;

void Router::connect(const Endpoint& endpoint, std::string_view alias) {
    if (alias.empty()) {
        state_->table.connect(endpoint, {});
        return;
    }
    check_identity(alias);
    if (state_->is_taken(alias)) {
        throw std::invalid_argument("alias is in use: " + std::string(alias));
    }
    std::string identity(alias);
    auto outbox = state_->table.connect(endpoint, identity);
    state_->peers.emplace(std::move(identity), Peer{Route(std::move(outbox)), endpoint});
}

bool Router::disconnect(const Endpoint& endpoint) {
    state_->forget_aliases(endpoint);
    return state_->table.disconnect(endpoint);
}

SendStatus Router::send(std::string_view peer, std::span<const Bytes> frames) {
    return state_->send_short_on(peer, frames) ? SendStatus::sent : state_->send(peer, frames);
}

SendStatus Router::send(std::string_view peer, std::initializer_list<std::string_view> frames) {
    return state_->send_short_on(peer, frames) ? SendStatus::sent : state_->send(peer, frames);
}

void Router::set_on_writable(std::function<void(std::string_view peer)> handler) {
    state_->on_writable = std::move(handler);
}

void Router::close(std::chrono::milliseconds grace, std::function<void()> done) {
    state_->is_closing = true;
    state_->last = nullptr;
    state_->table.close(grace, std::move(done));
}

void Router::pause(std::string_view peer) {
    const auto* const found = state_->find(peer);
    if (found != nullptr && found->second.route.session() != nullptr) {
        state_->queue.pause(*found->second.route.session());
    }
}

void Router::resume(std::string_view peer) {
    const auto* const found = state_->find(peer);
    if (found != nullptr && found->second.route.session() != nullptr) {
        state_->queue.resume(*found->second.route.session());
    }
}

bool Router::knows(std::string_view peer) const {
    const auto found = state_->peers.find(peer);
    return found != state_->peers.end() && found->second.route.session() != nullptr;
}

std::size_t Router::backlog_bytes() const {
    std::size_t bytes = 0;
    for (const auto& session : state_->table.sessions()) {
        bytes += session->outbox()->backlog().bytes();
    }
    return bytes;
}

Endpoint Router::bind_adopted(const Endpoint& endpoint, int descriptor, Security security) {
    return state_->table.bind_adopted(endpoint, descriptor, std::move(security));
}

bool Router::set_security(const Endpoint& endpoint, Security security) {
    return state_->table.set_security(endpoint, std::move(security));
}

void Router::close_peers(const Endpoint& endpoint, std::chrono::milliseconds grace) {
    state_->table.close_accepted(to_string(endpoint), grace);
}

bool Router::close_peer(std::uint64_t id, std::string_view why) {
    Session* const session = state_->table.find(id);
    if (session != nullptr) {
        session->close(why);
    }
    return session != nullptr;
}

}  // namespace telegate
