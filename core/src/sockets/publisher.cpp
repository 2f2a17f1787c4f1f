#include "core/publisher.hpp"

#include "sockets/publisher_state.hpp"
#include "zmtp/frame.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace telegate {
namespace {

constexpr std::size_t subscriptions_shown_max = 16;

}  // namespace

void Publisher::State::send(Topic& topic, std::string_view payload) {
    if (freshen(topic).readers->keys.empty()) {
        log.skip();
    } else {
        log.send(topic, payload);
    }
}

Publisher::Publisher(Reactor& reactor, PublisherOptions options)
    : state_(std::make_unique<State>(reactor, std::move(options))) {}

Publisher::~Publisher() = default;

Endpoint Publisher::bind(const Endpoint& endpoint) {
    return state_->peers.bind(endpoint);
}

Endpoint Publisher::bind(const Endpoint& endpoint, Security security) {
    return state_->peers.bind(endpoint, std::move(security));
}

Endpoint Publisher::bind_adopted(const Endpoint& endpoint, int descriptor) {
    return state_->peers.bind_adopted(endpoint, descriptor);
}

Endpoint Publisher::bind_adopted(const Endpoint& endpoint, int descriptor, Security security) {
    return state_->peers.bind_adopted(endpoint, descriptor, std::move(security));
}

bool Publisher::set_security(const Endpoint& endpoint, Security security) {
    const bool is_bound = state_->peers.set_security(endpoint, std::move(security));
    if (is_bound && state_->shards != nullptr) {
        state_->shards->close_handshakes(to_string(endpoint));
    }
    return is_bound;
}

void Publisher::connect(const Endpoint& endpoint) {
    state_->peers.connect(endpoint, {});
}

void Publisher::set_delivery(const Endpoint& endpoint, const Delivery& delivery) {
    check(delivery);
    const std::string at = to_string(endpoint);
    state_->log.settle();
    state_->deliveries.set(at, delivery);
    if (state_->shards != nullptr) {
        state_->shards->set_delivery(at, delivery);
    }
}

bool Publisher::must_wait() {
    return state_->deliveries.must_wait();
}

void Publisher::set_on_room(std::function<void()> on_room) {
    state_->deliveries.set_on_room(std::move(on_room));
}

bool Publisher::send_to(std::uint64_t id, std::string_view topic, std::string_view payload) {
    if (state_->keys.find(id) == state_->keys.end()) {
        return false;  // unknown, or not a subscriber yet
    }
    if (Session* const session = state_->peers.find(id)) {
        return state_->deliveries.send_to(session, topic, payload);
    }
    return state_->shards != nullptr && state_->shards->send_to(id, topic, payload);
}

bool Publisher::unbind(const Endpoint& endpoint) {
    const std::string at = to_string(endpoint);
    state_->deliveries.forget(at);
    if (state_->shards != nullptr) {
        state_->shards->forget_delivery(at);
    }
    return state_->peers.unbind(endpoint);
}

void Publisher::close_subscribers(const Endpoint& endpoint, std::chrono::milliseconds grace) {
    const std::string at = to_string(endpoint);
    for (const std::uint64_t id : state_->peers.accepted_at(at)) {
        state_->ended(id);  // from here on no message matches it
    }
    state_->peers.close_accepted(at, grace);
    if (state_->shards != nullptr) {
        state_->shards->close_accepted(at, grace);
    }
}

bool Publisher::disconnect(const Endpoint& endpoint) {
    return state_->peers.disconnect(endpoint);
}

bool Publisher::close_peer(std::uint64_t id, std::string_view why) {
    if (state_->keys.find(id) == state_->keys.end()) {
        return false;  // unknown, or not a subscriber yet
    }
    return state_->close_peer(id, why);
}

std::vector<Endpoint> Publisher::endpoints() const {
    return state_->peers.endpoints();
}

TopicId Publisher::intern(std::string_view topic, TopicPlace place) {
    return state_->topics.intern(topic, place);
}

bool Publisher::has_subscriptions() const noexcept {
    return state_->index.size() > 0;
}

bool Publisher::wanted(TopicId topic) {
    return !state_->freshen(state_->topics[topic]).readers->keys.empty();
}

bool Publisher::has_room(std::size_t payload_bytes) const {
    const std::size_t wire_bytes = zmtp::frame_header_bytes(payload_bytes) + payload_bytes;
    return state_->log.has_room(state_->topics.frame_bytes_max() + wire_bytes);
}

void Publisher::send(TopicId id, std::string_view payload) {
    State& state = *state_;
    Topic& topic = state.topics[id];
    if (!state.log.send_short_on(topic, payload)) {
        state.send(topic, payload);
    }
}

char* Publisher::prepare(TopicId topic, std::size_t payload_bytes_max) {
    return reinterpret_cast<char*>(state_->log.prepare(state_->freshen(state_->topics[topic]), payload_bytes_max));
}

char* Publisher::prepare_if_wanted(TopicId id, std::size_t payload_bytes_max) {
    State& state = *state_;
    Topic& topic = state.topics[id];
    std::byte* room = state.log.prepare_on(topic, payload_bytes_max);
    if (room == nullptr) {
        if (state.freshen(topic).readers->keys.empty()) {
            state.log.skip();
            return nullptr;
        }
        room = state.log.prepare(topic, payload_bytes_max);
    }
    return reinterpret_cast<char*>(room);
}

void Publisher::commit(std::size_t payload_bytes) {
    State& state = *state_;
    if (!state.log.commit_on(payload_bytes)) {
        state.freshen(state.log.prepared());  // subscribers may have come or gone since prepare()
        state.log.commit(payload_bytes);
    }
}

void Publisher::skip() {
    state_->log.skip();
}

void Publisher::flush() {
    state_->peers.flush();
}

void Publisher::close(std::chrono::milliseconds grace, std::function<void()> done) {
    state_->peers.close(grace, std::move(done));
    state_->log.settle();
    state_->topics.make_all_stale();  // from here on no topic has readers
    if (state_->shards != nullptr) {
        state_->shards->close(grace);
    }
}

void Publisher::set_monitor(MonitorHandler handler) {
    if (state_->shards != nullptr) {
        state_->shards->set_monitored(handler != nullptr);
    }
    state_->peers.set_monitor(std::move(handler));
}

std::vector<PeerStatus> Publisher::subscribers() const {
    std::vector<PeerStatus> result = state_->deliveries.statuses();
    if (state_->shards != nullptr) {
        state_->shards->add_statuses(result);
    }
    for (PeerStatus& status : result) {
        const auto key = state_->keys.find(status.id);
        if (key != state_->keys.end()) {  // not while the monitor reports its handshake
            status.subscriptions = state_->index.some(key->second, subscriptions_shown_max);
            status.subscriptions_count = state_->index.size_of(key->second);
        }
    }
    return result;
}

PublisherTotals Publisher::totals() const {
    PublisherTotals totals;
    static_cast<SocketTotals&>(totals) = state_->peers.totals();
    if (state_->shards != nullptr) {
        static_cast<SocketTotals&>(totals) += state_->shards->totals();
    }
    totals.messages = state_->log.messages();
    totals.subscriptions_refused = state_->subscriptions_refused;
    totals.subscriptions = state_->index.size();
    return totals;
}

}  // namespace telegate
