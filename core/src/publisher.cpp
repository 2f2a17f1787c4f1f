#include "core/publisher.hpp"

#include "peer_table.hpp"
#include "publish_log.hpp"
#include "subscription_index.hpp"
#include "topic_table.hpp"
#include "zmtp/frame.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t receive_buffer_bytes = 64 * 1024;
constexpr std::size_t segment_bytes_min = 256;
constexpr std::size_t subscriptions_shown_max = 16;

PublisherOptions within_bounds(PublisherOptions options) {
    check_options(options);
    options.message_bytes_max = std::min(options.message_bytes_max, limits::publisher_message_bytes_max);
    // Otherwise a sender that never turns the loop would lose what fast subscribers could have had.
    options.flush_bytes = std::min(options.flush_bytes, options.backlog_bytes_max / 2);
    // A slow subscriber loses whole segments.
    options.segment_bytes = std::min(options.segment_bytes, std::max(segment_bytes_min, options.backlog_bytes_max / 4));
    return options;
}

/// ZMTP 3.1's form; nullopt for any other command.
std::optional<zmtp::Subscription> subscription_of(const zmtp::Command& command) {
    if (command.name == "SUBSCRIBE") {
        return zmtp::Subscription{zmtp::Subscription::Kind::subscribe, command.data};
    }
    if (command.name == "CANCEL") {
        return zmtp::Subscription{zmtp::Subscription::Kind::cancel, command.data};
    }
    return std::nullopt;
}

}  // namespace

struct Publisher::State {
    State(Reactor& reactor, PublisherOptions options_in);

    [[nodiscard]] SessionEvents events();
    void opened(Session& session);
    void ended(const Session& session);
    void read(Session& session);
    void absorb(Session& session);
    void change(Session& session, const zmtp::Subscription& subscription);
    void subscribe(Session& session, std::string_view prefix);
    void cancel(Session& session, std::string_view prefix);

    void make_stale(std::string_view prefix) noexcept;
    Topic& freshen(Topic& topic) {
        if (!topics.is_fresh(topic)) {
            find_readers(topic);
        }
        return topic;
    }
    [[gnu::noinline]] void find_readers(Topic& topic);
    /// Out of line, so that Publisher::send() stays short.
    [[gnu::noinline]] void send(Topic& topic, std::string_view payload);

    const PublisherOptions options;
    Tail tail;  // outlives the sessions, whose outboxes look at it
    PeerTable peers;
    PublishLog log;
    SubscriptionIndex index;
    std::unordered_map<std::uint64_t, SubscriberKey> keys;  // by session id
    std::vector<Session*> sessions_by_key;
    TopicTable topics;
    MessageBatch batch;
    std::size_t absorbed = 0;  // messages of the batch that were looked at
    std::vector<SubscriberKey> found;
    std::uint64_t subscriptions_refused = 0;
};

Publisher::State::State(Reactor& reactor, PublisherOptions options_in)
    : options(within_bounds(std::move(options_in))),
      peers(reactor, options, {zmtp::SocketType::pub, receive_buffer_bytes, false}, events()),
      log(reactor, peers, tail, options),
      index({options.subscriptions_max, options.subscriptions_per_peer_max, options.subscription_bytes_per_peer_max}) {}

SessionEvents Publisher::State::events() {
    SessionEvents events;
    events.opened = [this](Session& session) {
        opened(session);
    };
    events.readable = [this](Session& session) {
        read(session);
    };
    events.command = [this](Session& session, const zmtp::Command& command) {
        absorb(session);  // the messages that came before it
        if (const auto subscription = subscription_of(command)) {
            change(session, *subscription);
        }
    };
    events.ended = [this](Session& session, std::string_view) {
        ended(session);
    };
    return events;
}

void Publisher::State::opened(Session& session) {
    const SubscriberKey key = index.add_subscriber();
    const auto place = static_cast<std::size_t>(key);
    sessions_by_key.resize(std::max(sessions_by_key.size(), place + 1));
    sessions_by_key[place] = &session;
    keys.emplace(session.id(), key);
    log.join(session);
}

void Publisher::State::ended(const Session& session) {
    const auto key = keys.find(session.id());
    if (key == keys.end()) {
        return;  // it never got as far as subscribing
    }
    index.remove_subscriber(key->second, [this](std::string_view prefix) { make_stale(prefix); });
    sessions_by_key[static_cast<std::size_t>(key->second)] = nullptr;
    keys.erase(key);
}

void Publisher::State::read(Session& session) {
    batch.clear();
    absorbed = 0;
    (void)session.take(batch);  // readable comes again by itself
    absorb(session);
    batch.clear();
}

/// Older peers, and XSUB whatever its age, subscribe by messages: each frame is one. The rest is not for us.
void Publisher::State::absorb(Session& session) {
    for (; absorbed < batch.size(); ++absorbed) {
        for (const Bytes frame : batch[absorbed]) {
            if (const auto subscription = zmtp::parse_subscription(zmtp::Frame{0, frame})) {
                change(session, *subscription);
            }
        }
    }
}

void Publisher::State::change(Session& session, const zmtp::Subscription& subscription) {
    if (session.state() != Session::State::open) {
        return;
    }
    if (subscription.kind == zmtp::Subscription::Kind::subscribe) {
        subscribe(session, as_text(subscription.prefix));
    } else {
        cancel(session, as_text(subscription.prefix));
    }
}

void Publisher::State::subscribe(Session& session, std::string_view prefix) {
    const SubscriptionIndex::Insert result = index.insert(keys.at(session.id()), prefix);
    if (result == SubscriptionIndex::Insert::refused) {
        ++subscriptions_refused;
    } else if (result == SubscriptionIndex::Insert::added) {
        make_stale(prefix);
        peers.tell(MonitorEventKind::subscribed, session, prefix);
    }
}

void Publisher::State::cancel(Session& session, std::string_view prefix) {
    if (index.erase(keys.at(session.id()), prefix)) {
        make_stale(prefix);
        peers.tell(MonitorEventKind::unsubscribed, session, prefix);
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
    for (const SubscriberKey key : found) {
        Session* session = sessions_by_key[static_cast<std::size_t>(key)];
        readers->sessions.push_back(session);
        readers->outboxes.push_back(session->outbox().get());
    }
    topic.readers = std::move(readers);
    topics.set_fresh(topic);
}

void Publisher::State::send(Topic& topic, std::string_view payload) {
    if (freshen(topic).readers->sessions.empty()) {
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

void Publisher::connect(const Endpoint& endpoint) {
    state_->peers.connect(endpoint, {});
}

bool Publisher::unbind(const Endpoint& endpoint) {
    return state_->peers.unbind(endpoint);
}

bool Publisher::disconnect(const Endpoint& endpoint) {
    return state_->peers.disconnect(endpoint);
}

std::vector<Endpoint> Publisher::endpoints() const {
    return state_->peers.endpoints();
}

TopicId Publisher::intern(std::string_view topic, TopicPlace place) {
    return state_->topics.intern(topic, place);
}

bool Publisher::wanted(TopicId topic) {
    return !state_->freshen(state_->topics[topic]).readers->sessions.empty();
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

void Publisher::commit(std::size_t payload_bytes) {
    state_->freshen(state_->log.prepared());  // somebody may have come or gone since prepare()
    state_->log.commit(payload_bytes);
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
}

void Publisher::set_monitor(MonitorHandler handler) {
    state_->peers.set_monitor(std::move(handler));
}

std::vector<PeerStatus> Publisher::subscribers() const {
    std::vector<PeerStatus> result = state_->peers.statuses();
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
    totals.messages = state_->log.messages();
    totals.subscriptions_refused = state_->subscriptions_refused;
    totals.subscriptions = state_->index.size();
    return totals;
}

}  // namespace telegate
