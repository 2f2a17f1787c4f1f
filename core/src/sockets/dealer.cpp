#include "core/dealer.hpp"

#include "core/watch.hpp"
#include "peers/fair_queue.hpp"
#include "peers/peer_table.hpp"
#include "sockets/route.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace telegate {

namespace {

struct Destination {
    Route route;
    std::optional<Endpoint> connected_to;  // kept while there is no session
};

}  // namespace

struct Dealer::State {
    State(Reactor& reactor, SocketOptions socket_options);

    [[nodiscard]] SessionEvents events();
    void opened(Session& session);
    void ended(const Session& session);
    /// Reports that send() may succeed again.
    void unblock();
    /// The fast path: sends to the peer whose turn it is. Returns false and does nothing if other work is required.
    template <class Frames>
    [[nodiscard, gnu::noinline]] bool send_on(const Frames& frames) noexcept;
    /// Not inlined, so that Dealer::send() stays short.
    template <class Frames>
    [[nodiscard, gnu::noinline]] SendStatus send(Frames frames);

    const SocketOptions options;
    FairQueue queue;
    std::function<void()> on_writable;
    Alarm connected_alarm;    // calls unblock() from the reactor after a connect()
    bool is_blocked = false;  // the last send() was refused
    bool is_closing = false;
    PeerTable table;
    RouteContext routes{table, options.backlog_bytes_max};
    std::vector<Destination> destinations;  // their outboxes use the table's memory
    std::size_t next = 0;
};

Dealer::State::State(Reactor& reactor, SocketOptions socket_options)
    : options(std::move(socket_options)),
      queue(reactor),
      connected_alarm(reactor, [this] { unblock(); }),
      table(reactor, options, {.socket_type = zmtp::SocketType::dealer, .keep_outbox = true}, events()) {}

SessionEvents Dealer::State::events() {
    return {
        .opened = [this](Session& session) { opened(session); },
        .readable = [this](Session& session) { queue.add(session); },
        .room = [this](Session&) { unblock(); },
        .ended = [this](const Session& session, std::string_view) { ended(session); },
    };
}

void Dealer::State::opened(Session& session) {
    const auto kept = std::find_if(destinations.begin(), destinations.end(), [&](const Destination& destination) {
        return destination.route.leads_to(*session.outbox());
    });
    if (kept == destinations.end()) {
        destinations.push_back({Route(session), std::nullopt});
        unblock();
        return;
    }
    kept->route.attach(session);
    table.flush_soon(session);
}

void Dealer::State::ended(const Session& session) {
    queue.remove(session);
    const auto found = std::find_if(destinations.begin(), destinations.end(), [&](const Destination& destination) {
        return destination.route.session() == &session;
    });
    if (found == destinations.end()) {
        return;
    }
    if (found->connected_to.has_value()) {
        found->route.detach();
    } else {
        destinations.erase(found);
    }
}

void Dealer::State::unblock() {
    if (!std::exchange(is_blocked, false)) {
        return;
    }
    if (const auto handler = on_writable) {  // a copy, because it may set another one
        handler();
    }
}

template <class Frames>
bool Dealer::State::send_on(const Frames& frames) noexcept {
    if (next >= destinations.size()) {
        next = 0;
    }
    if (is_closing || destinations.empty() || !destinations[next].route.send_on(frames)) {
        return false;
    }
    ++next;
    return true;
}

template <class Frames>
SendStatus Dealer::State::send(Frames frames) {
    check_frames(frames.size());
    for (std::size_t tried = 0; tried < destinations.size() && !is_closing; ++tried) {
        next = next < destinations.size() ? next : 0;
        Route& route = destinations[next++].route;
        if (route.send(routes, frames)) {
            return SendStatus::sent;
        }
    }
    is_blocked = true;
    return destinations.empty() || is_closing ? SendStatus::unknown_peer : SendStatus::full;
}

Dealer::Dealer(std::unique_ptr<State> state) : ReceivingSocket(state->table, state->queue), state_(std::move(state)) {}
Dealer::Dealer(Reactor& reactor, SocketOptions options)
    : Dealer(std::make_unique<State>(reactor, std::move(options))) {}
Dealer::~Dealer() = default;

void Dealer::connect(const Endpoint& endpoint) {
    auto outbox = state_->table.connect(endpoint, {});
    state_->destinations.push_back({Route(std::move(outbox)), endpoint});
    state_->connected_alarm.set(std::chrono::milliseconds(0));
}

bool Dealer::disconnect(const Endpoint& endpoint) {
    std::erase_if(state_->destinations,
                  [&](const Destination& destination) { return destination.connected_to == endpoint; });
    return state_->table.disconnect(endpoint);
}

SendStatus Dealer::send(std::span<const Bytes> frames) {
    return state_->send_on(frames) ? SendStatus::sent : state_->send(frames);
}

SendStatus Dealer::send(std::initializer_list<std::string_view> frames) {
    return state_->send_on(frames) ? SendStatus::sent : state_->send(frames);
}

void Dealer::set_on_writable(std::function<void()> handler) {
    state_->on_writable = std::move(handler);
}

void Dealer::close(std::chrono::milliseconds grace, std::function<void()> done) {
    state_->is_closing = true;
    state_->table.close(grace, std::move(done));
}

}  // namespace telegate
