#include "core/publisher.hpp"

#include "peer_table.hpp"
#include "publish_log.hpp"
#include "shards/shards.hpp"
#include "subscription_index.hpp"
#include "subscription_reader.hpp"
#include "topic_table.hpp"
#include "zmtp/frame.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t receive_buffer_bytes = 64 * 1024;
constexpr std::size_t subscriptions_shown_max = 16;

PublisherOptions within_bounds(PublisherOptions options) {
    check_options(options);
    options.message_bytes_max = std::min(options.message_bytes_max, limits::publisher_message_bytes_max);
    // Otherwise a sender that never turns the loop would lose what fast subscribers could have had.
    options.flush_bytes = std::min(options.flush_bytes, options.backlog_bytes_max / 2);
    // A slow subscriber loses whole segments, which have 256 bytes at least.
    options.segment_bytes = std::min(options.segment_bytes, std::max<std::size_t>(256, options.backlog_bytes_max / 4));
    return options;
}

}  // namespace

struct Publisher::State {
    /// Here, or on another thread: then it is known by its id, and by where it is.
    struct Subscriber {
        Session* session = nullptr;
        const RemoteSession* remote = nullptr;
        std::uint64_t id = 0;
    };

    State(Reactor& reactor, PublisherOptions options_in);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    [[nodiscard]] SessionEvents events();
    [[nodiscard]] RemoteEvents remote_events();
    void opened(const Subscriber& subscriber);
    void ended(std::uint64_t id);
    void change(std::uint64_t id, const zmtp::Subscription& subscription);
    void subscribe(SubscriberKey key, std::string_view prefix);
    void cancel(SubscriberKey key, std::string_view prefix);
    void tell(MonitorEventKind kind, SubscriberKey key, std::string_view prefix);

    void make_stale(std::string_view prefix) noexcept;
    Topic& freshen(Topic& topic) {
        if (!topics.is_fresh(topic)) {
            find_readers(topic);
        }
        return topic;
    }
    [[gnu::noinline]] void find_readers(Topic& topic);
    void add_remote_readers(ReaderSet& readers);
    /// Out of line, so that Publisher::send() stays short.
    [[gnu::noinline]] void send(Topic& topic, std::string_view payload);

    const PublisherOptions options;
    Tail tail;  // outlives the sessions, whose outboxes look at it
    RemoteSessions remote;
    SubscriptionReader reader;
    PeerTable peers;
    PublishLog log;
    SubscriptionIndex index;
    std::unordered_map<std::uint64_t, SubscriberKey> keys;  // by session id
    std::vector<Subscriber> subscribers_by_key;
    std::unique_ptr<Shards> shards;  // null with one thread
    TopicTable topics;               // whose readers refer to lanes
    std::vector<SubscriberKey> found;
    std::vector<std::vector<LaneReader>> found_remote;  // by shard
    std::uint64_t subscriptions_refused = 0;
};

Publisher::State::State(Reactor& reactor, PublisherOptions options_in)
    : options(within_bounds(std::move(options_in))),
      reader([this](const Session& session, const zmtp::Subscription& subscription) {
          change(session.id(), subscription);
      }),
      peers(reactor, options,
            {zmtp::SocketType::pub, receive_buffer_bytes, false, options.io_threads > 1 ? &remote : nullptr}, events()),
      log(reactor, peers, tail, options),
      index({options.subscriptions_max, options.subscriptions_per_peer_max, options.subscription_bytes_per_peer_max}),
      found_remote(options.io_threads - 1) {
    if (options.io_threads > 1) {
        shards = std::make_unique<Shards>(Shards::Setup{reactor, options, peers, remote}, remote_events());
        log.share(shards->lanes());
    }
}

Publisher::State::~State() {
    log.settle();  // to the lanes too
}

SessionEvents Publisher::State::events() {
    SessionEvents events;
    events.opened = [this](Session& session) {
        log.join(session);
        opened({&session, nullptr, session.id()});
    };
    events.readable = [this](Session& session) {
        reader.read(session);
    };
    events.command = [this](Session& session, const zmtp::Command& command) {
        reader.command(session, command);
    };
    events.ended = [this](const Session& session, std::string_view) {
        ended(session.id());
    };
    return events;
}

RemoteEvents Publisher::State::remote_events() {
    using Kind = zmtp::Subscription::Kind;
    RemoteEvents events;
    events.opened = [this](std::uint64_t id) {
        opened({nullptr, remote.find(id), id});
    };
    events.ended = [this](std::uint64_t id) {
        ended(id);
    };
    events.subscribed = [this](std::uint64_t id, std::string_view prefix) {
        change(id, {Kind::subscribe, as_bytes(prefix)});
    };
    events.cancelled = [this](std::uint64_t id, std::string_view prefix) {
        change(id, {Kind::cancel, as_bytes(prefix)});
    };
    return events;
}

void Publisher::State::opened(const Subscriber& subscriber) {
    const SubscriberKey key = index.add_subscriber();
    const auto place = static_cast<std::size_t>(key);
    subscribers_by_key.resize(std::max(subscribers_by_key.size(), place + 1));
    subscribers_by_key[place] = subscriber;
    keys.emplace(subscriber.id, key);
}

void Publisher::State::ended(std::uint64_t id) {
    const auto key = keys.find(id);
    if (key == keys.end()) {
        return;  // it never got as far as subscribing
    }
    index.remove_subscriber(key->second, [this](std::string_view prefix) { make_stale(prefix); });
    subscribers_by_key[static_cast<std::size_t>(key->second)] = {};
    keys.erase(key);
}

void Publisher::State::change(std::uint64_t id, const zmtp::Subscription& subscription) {
    const auto key = keys.find(id);
    if (key == keys.end()) {
        return;  // there was no memory for it
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
    } else if (result == SubscriptionIndex::Insert::added) {
        make_stale(prefix);
        tell(MonitorEventKind::subscribed, key, prefix);
    }
}

void Publisher::State::cancel(SubscriberKey key, std::string_view prefix) {
    if (index.erase(key, prefix)) {
        make_stale(prefix);
        tell(MonitorEventKind::unsubscribed, key, prefix);
    }
}

void Publisher::State::tell(MonitorEventKind kind, SubscriberKey key, std::string_view prefix) {
    const Subscriber& subscriber = subscribers_by_key[static_cast<std::size_t>(key)];
    if (subscriber.session != nullptr) {
        peers.tell(kind, *subscriber.session, prefix);
    } else {
        peers.tell({kind, subscriber.remote->endpoint, subscriber.remote->peer, subscriber.id, prefix, 0, nullptr});
    }
}

void Publisher::State::make_stale(std::string_view prefix) noexcept {
    log.settle();  // it relies on the readers staying the same
    topics.make_stale(prefix);
}

void Publisher::State::find_readers(Topic& topic) {
    auto readers = std::make_shared<ReaderSet>();
    found.clear();
    if (!peers.is_closing()) {
        index.match(topic.name, found);
    }
    std::sort(found.begin(), found.end());  // so that equal sets look the same
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

/// Those in found_remote.
void Publisher::State::add_remote_readers(ReaderSet& readers) {
    for (std::size_t shard = 0; shard < found_remote.size(); ++shard) {
        if (!found_remote[shard].empty()) {
            Lane& lane = *shards->lanes()[shard];
            readers.lanes.push_back(lane.share_of(std::exchange(found_remote[shard], {})));
            readers.outboxes.push_back(&lane.outbox());
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

Endpoint Publisher::bind(const Endpoint& endpoint) {
    return state_->peers.bind(endpoint);
}

Endpoint Publisher::bind_adopted(const Endpoint& endpoint, int descriptor) {
    return state_->peers.bind_adopted(endpoint, descriptor);
}

void Publisher::connect(const Endpoint& endpoint) {
    state_->peers.connect(endpoint, {});
}

bool Publisher::unbind(const Endpoint& endpoint) {
    return state_->peers.unbind(endpoint);
}

void Publisher::close_subscribers(const Endpoint& endpoint, std::chrono::milliseconds grace) {
    const std::string at = to_string(endpoint);
    for (const std::uint64_t id : state_->peers.accepted_at(at)) {
        state_->ended(id);  // from here on nothing matches it
    }
    state_->peers.close_accepted(at, grace);
    if (state_->shards != nullptr) {
        state_->shards->close_accepted(at, grace);
    }
}

bool Publisher::disconnect(const Endpoint& endpoint) {
    return state_->peers.disconnect(endpoint);
}

bool Publisher::close_peer(std::uint64_t id) {
    if (state_->keys.find(id) == state_->keys.end()) {
        return false;  // unknown, or not a subscriber yet
    }
    state_->log.settle();  // what was published before is counted as its own
    Session* const session = state_->peers.find(id);
    if (session != nullptr) {
        session->close("closed on request");
    }
    return session != nullptr || (state_->shards != nullptr && state_->shards->close_peer(id));
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
        state.freshen(state.log.prepared());  // somebody may have come or gone since prepare()
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
    state_->topics.make_all_stale();  // from here on none has readers
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
    std::vector<PeerStatus> result = state_->peers.statuses();
    if (state_->shards != nullptr) {
        state_->shards->add_statuses(result);
    }
    for (PeerStatus& status : result) {
        const auto key = state_->keys.find(status.id);
        if (key != state_->keys.end()) {  // not while the monitor hears of its handshake
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
