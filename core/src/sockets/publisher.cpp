#include "core/publisher.hpp"

#include "peers/peer_table.hpp"
#include "publish/deliveries.hpp"
#include "publish/publish_log.hpp"
#include "publish/subscription_index.hpp"
#include "publish/subscription_reader.hpp"
#include "publish/topic_table.hpp"
#include "shards/shards.hpp"
#include "zmtp/frame.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace telegate {
namespace {

constexpr std::size_t subscriptions_shown_max = 16;

PublisherOptions within_bounds(PublisherOptions options) {
    check_options(options);
    options.message_bytes_max = std::min(options.message_bytes_max, limits::publisher_message_bytes_max);
    // Otherwise a sender that never runs the event loop would drop messages that fast subscribers could have received.
    options.flush_bytes = std::min(options.flush_bytes, options.backlog_bytes_max / 2);
    // A slow subscriber's messages are dropped in whole segments of at least 256 bytes.
    options.segment_bytes = std::min(options.segment_bytes, std::max<std::size_t>(256, options.backlog_bytes_max / 4));
    return options;
}

}  // namespace

/// Tracks the subscribers, what they read, and on which thread they are.
struct Publisher::State {
    /// A subscriber on this thread, or on another one: then it is known by its id and location.
    struct Subscriber {
        Session* session = nullptr;
        const RemoteSession* remote = nullptr;
        std::uint64_t id = 0;
        bool is_closing = false;  // because a subscription was refused
    };

    State(Reactor& reactor, PublisherOptions options_in);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    [[nodiscard]] SessionEvents events();
    [[nodiscard]] RemoteEvents remote_events();
    void opened(const Subscriber& subscriber);
    void ended(std::uint64_t id);
    bool close_peer(std::uint64_t id, std::string_view why);
    void change(std::uint64_t id, const zmtp::Subscription& subscription);
    void subscribe(SubscriberKey key, std::string_view prefix);
    void cancel(SubscriberKey key, std::string_view prefix);
    void report(MonitorEventKind kind, SubscriberKey key, std::string_view prefix);

    void make_stale(std::string_view prefix) noexcept;
    Topic& freshen(Topic& topic) {
        if (!topics.is_fresh(topic)) {
            find_readers(topic);
        }
        return topic;
    }
    [[gnu::noinline]] void find_readers(Topic& topic);
    void add_remote_readers(ReaderSet& readers);
    /// Not inlined, so that Publisher::send() stays short.
    [[gnu::noinline]] void send(Topic& topic, std::string_view payload);

    const PublisherOptions options;
    WriteCursor cursor;  // outlives the sessions, whose outboxes refer to it
    SubscriptionReader reader;
    PeerTable peers;
    PublishLog log;
    Deliveries deliveries;
    SubscriptionIndex index;
    std::unordered_map<std::uint64_t, SubscriberKey> keys;  // by session id
    std::vector<Subscriber> subscribers_by_key;
    Shards shards;
    TopicTable topics;  // its readers refer to queues
    std::vector<SubscriberKey> found;
    std::vector<std::vector<ShardReader>> found_remote;  // by shard
    std::uint64_t subscriptions_refused = 0;
};

Publisher::State::State(Reactor& reactor, PublisherOptions options_in)
    : options(within_bounds(std::move(options_in))),
      reader([this](const Session& session, const zmtp::Subscription& subscription) {
          change(session.id(), subscription);
      }),
      peers(reactor, options, {zmtp::SocketType::pub, subscriber_receive_buffer_bytes}, events()),
      log(reactor, peers, cursor, options),
      deliveries(reactor, peers, log, options),
      index({options.subscriptions_max, options.subscriptions_per_peer_max, options.subscription_bytes_per_peer_max,
             options.sessions_max}),
      shards(reactor, options, peers, remote_events()),
      found_remote(options.io_threads - 1) {
    log.share(shards.queues());
}

Publisher::State::~State() {
    log.settle();  // also to the queues
}

SessionEvents Publisher::State::events() {
    SessionEvents events;
    events.opened = [this](Session& session) {
        log.join(session);
        deliveries.join(session);
        opened({&session, nullptr, session.id()});
    };
    events.readable = [this](Session& session) {
        reader.read(session);
    };
    events.command = [this](Session& session, const zmtp::Command& command) {
        reader.command(session, command);
    };
    events.room = [this](const Session&) {
        deliveries.check_room_soon();
    };
    events.ended = [this](const Session& session, std::string_view) {
        ended(session.id());
        deliveries.leave(session);
    };
    return events;
}

RemoteEvents Publisher::State::remote_events() {
    using Kind = zmtp::Subscription::Kind;
    RemoteEvents events;
    events.opened = [this](std::uint64_t id) {
        opened({nullptr, peers.remote().find(id), id});
    };
    events.ended = [this](std::uint64_t id) {
        ended(id);
    };
    events.subscribed = [this](std::uint64_t id, std::string_view prefix) {
        change(id, {Kind::subscribe, as_bytes(prefix)});
    };
    events.canceled = [this](std::uint64_t id, std::string_view prefix) {
        change(id, {Kind::cancel, as_bytes(prefix)});
    };
    events.advanced = [this] {
        deliveries.check_room_soon();
    };
    return events;
}

void Publisher::State::opened(const Subscriber& subscriber) {
    const SubscriberKey key = index.add_subscriber();
    const auto place = static_cast<std::size_t>(key);
    subscribers_by_key.resize(std::max(subscribers_by_key.size(), place + 1));
    keys.emplace(subscriber.id, key);
    subscribers_by_key[place] = subscriber;
}

void Publisher::State::ended(std::uint64_t id) {
    const auto key = keys.find(id);
    if (key == keys.end()) {
        return;  // it ended before it could subscribe
    }
    index.remove_subscriber(key->second, [this](std::string_view prefix) { make_stale(prefix); });
    subscribers_by_key[static_cast<std::size_t>(key->second)] = {};
    keys.erase(key);
}

bool Publisher::State::close_peer(std::uint64_t id, std::string_view why) {
    log.settle();  // messages published before count as its own
    Session* const session = peers.find(id);
    if (session != nullptr) {
        session->close(why);
    }
    return session != nullptr || shards.close_peer(id, why);
}

void Publisher::State::change(std::uint64_t id, const zmtp::Subscription& subscription) {
    const auto key = keys.find(id);
    if (key == keys.end() || subscribers_by_key[static_cast<std::size_t>(key->second)].is_closing) {
        return;  // it is being closed
    }
    if (subscription.kind == zmtp::Subscription::Kind::subscribe) {
        subscribe(key->second, as_text(subscription.prefix));
    } else {
        cancel(key->second, as_text(subscription.prefix));
    }
}

void Publisher::State::subscribe(SubscriberKey key, std::string_view prefix) {
    const SubscriptionIndex::Insert result = index.insert(key, prefix);
    if (result == SubscriptionIndex::Insert::refused) {
        ++subscriptions_refused;
        // A subscriber that stayed connected would wait forever for messages that it never receives. No topic begins
        // with a prefix that is too long, so nothing is missed in that case.
        if (prefix.size() <= limits::subscription_bytes_max) {
            Subscriber& subscriber = subscribers_by_key[static_cast<std::size_t>(key)];
            subscriber.is_closing = true;
            close_peer(subscriber.id, too_many_subscriptions);
        }
    } else if (result == SubscriptionIndex::Insert::added) {
        make_stale(prefix);
        report(MonitorEventKind::subscribed, key, prefix);
    }
}

void Publisher::State::cancel(SubscriberKey key, std::string_view prefix) {
    if (index.erase(key, prefix)) {
        make_stale(prefix);
        report(MonitorEventKind::unsubscribed, key, prefix);
    }
}

void Publisher::State::report(MonitorEventKind kind, SubscriberKey key, std::string_view prefix) {
    const Subscriber& subscriber = subscribers_by_key[static_cast<std::size_t>(key)];
    if (subscriber.session != nullptr) {
        peers.report(kind, *subscriber.session, prefix);
    } else {
        peers.report({kind, subscriber.remote->endpoint, subscriber.remote->peer, subscriber.id, prefix, 0, nullptr});
    }
}

void Publisher::State::make_stale(std::string_view prefix) noexcept {
    log.settle();  // the cursor relies on the readers staying the same
    topics.make_stale(prefix);
}

void Publisher::State::find_readers(Topic& topic) {
    auto readers = std::make_shared<ReaderSet>();
    found.clear();
    if (!peers.is_closing()) {
        index.match(topic.name, found);
    }
    std::sort(found.begin(), found.end());  // so that equal sets compare equal
    readers->keys = found;
    readers->flush_bytes = options.flush_bytes;
    for (const SubscriberKey key : found) {
        const Subscriber& subscriber = subscribers_by_key[static_cast<std::size_t>(key)];
        if (subscriber.session != nullptr) {
            readers->sessions.push_back(subscriber.session);
            if (subscriber.session->stays_in_process()) {
                readers->flush_bytes = std::min(options.flush_bytes, limits::flush_bytes_in_process);
            }
            readers->outboxes.push_back(subscriber.session->outbox().get());
        } else {
            found_remote[subscriber.remote->shard].push_back({subscriber.remote->place, subscriber.id});
        }
    }
    add_remote_readers(*readers);
    topic.readers = std::move(readers);
    topics.set_fresh(topic);
}

/// Adds the readers in found_remote.
void Publisher::State::add_remote_readers(ReaderSet& readers) {
    for (std::size_t shard = 0; shard < found_remote.size(); ++shard) {
        if (!found_remote[shard].empty()) {
            ShardQueue& queue = *shards.queues()[shard];
            readers.shards.push_back(queue.ref_to(std::exchange(found_remote[shard], {})));
            readers.outboxes.push_back(&queue.outbox());
        }
    }
}

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

Endpoint Publisher::bind(const Endpoint& endpoint, std::optional<Security> security) {
    return state_->peers.bind(endpoint, std::move(security));
}

Endpoint Publisher::bind_adopted(const Endpoint& endpoint, int descriptor, std::optional<Security> security) {
    return state_->peers.bind_adopted(endpoint, descriptor, std::move(security));
}

bool Publisher::set_security(const Endpoint& endpoint, Security security) {
    if (!state_->peers.set_security(endpoint, std::move(security))) {
        return false;
    }
    state_->shards.close_handshakes(to_string(endpoint));
    return true;
}

void Publisher::connect(const Endpoint& endpoint) {
    state_->peers.connect(endpoint, {});
}

void Publisher::set_delivery(const Endpoint& endpoint, const Delivery& delivery) {
    check(delivery);
    const std::string at = to_string(endpoint);
    state_->log.settle();
    state_->deliveries.set(at, delivery);
    state_->shards.set_delivery(at, delivery);
}

bool Publisher::must_wait() {
    return state_->deliveries.must_wait();
}

void Publisher::set_on_room(std::function<void()> on_room) {
    state_->deliveries.set_on_room(std::move(on_room));
}

bool Publisher::send_to(std::uint64_t id, std::string_view topic, std::string_view payload,
                        const std::optional<SampleRange>& samples) {
    if (state_->keys.find(id) == state_->keys.end()) {
        return false;  // unknown, or not a subscriber yet
    }
    if (Session* const session = state_->peers.find(id)) {
        return state_->deliveries.send_to(session, topic, payload, samples);
    }
    return state_->shards.send_to(id, topic, payload, samples);
}

bool Publisher::unbind(const Endpoint& endpoint) {
    const std::string at = to_string(endpoint);
    state_->deliveries.forget(at);
    state_->shards.forget_delivery(at);
    return state_->peers.unbind(endpoint);
}

void Publisher::close_subscribers(const Endpoint& endpoint, std::chrono::milliseconds grace) {
    const std::string at = to_string(endpoint);
    for (const std::uint64_t id : state_->peers.accepted_at(at)) {
        state_->ended(id);  // from here on no message matches it
    }
    state_->peers.close_accepted(at, grace);
    state_->shards.close_accepted(at, grace);
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

std::optional<Publisher::Crowd> Publisher::crowd() const {
    const ClientShares& shares = state_->peers.shares();
    if (shares.size() < state_->options.sessions_max) {
        return std::nullopt;
    }
    const ClientShares::Holder most = shares.most();
    return Crowd{shares.size(), state_->options.sessions_max, std::string(most.client), most.places};
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
    const std::size_t wire_bytes = zmtp::frame_header_bytes(payload_bytes) + payload_bytes + sizeof(LoggedSamples);
    return state_->log.has_room(state_->topics.frame_bytes_max() + wire_bytes);
}

void Publisher::send(TopicId id, std::string_view payload) {
    State& state = *state_;
    Topic& topic = state.topics[id];
    if (!state.log.send_short_on(topic, payload)) {
        state.send(topic, payload);
    }
}

void Publisher::send(TopicId topic, std::string_view payload, const SampleRange& samples) {
    if (char* const room = prepare_if_wanted(topic, payload.size())) {
        payload.copy(room, payload.size());
        commit(payload.size(), samples);
        state_->peers.flush_soon();
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

void Publisher::commit(std::size_t payload_bytes, const SampleRange& samples) {
    State& state = *state_;
    if (!state.log.commit_on(payload_bytes, samples)) {
        state.freshen(state.log.prepared());
        state.log.commit(payload_bytes, samples);
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
    state_->shards.close(grace);
}

void Publisher::set_monitor(MonitorHandler handler) {
    state_->shards.set_monitored(handler != nullptr);
    state_->peers.set_monitor(std::move(handler));
}

std::vector<PeerStatus> Publisher::subscribers() const {
    std::vector<PeerStatus> result = state_->deliveries.statuses();
    state_->shards.add_statuses(result);
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
    static_cast<SocketTotals&>(totals) += state_->shards.totals();
    totals.messages = state_->log.messages();
    totals.subscriptions_refused = state_->subscriptions_refused;
    totals.subscriptions = state_->index.size();
    return totals;
}

}  // namespace telegate
