#include "core/publisher.hpp"

#include "peer_table.hpp"
#include "subscription_index.hpp"
#include "topic_table.hpp"
#include "watch.hpp"
#include "zmtp/frame.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t receive_buffer_bytes = 64 * 1024;
constexpr std::size_t subscriptions_shown_max = 16;
constexpr std::string_view reads_too_slowly = "reads too slowly";

PublisherOptions within_bounds(PublisherOptions options) {
    check_options(options);
    options.message_bytes_max = std::min(options.message_bytes_max, limits::publisher_message_bytes_max);
    // Otherwise a sender that never turns the loop would lose what fast subscribers could have had.
    options.flush_bytes = std::min(options.flush_bytes, options.backlog_bytes_max / 2);
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

    [[nodiscard]] Topic& fresh(TopicId id);
    void find_readers(Topic& topic);
    [[nodiscard]] std::byte* start_message(Topic& topic, std::size_t payload_bytes_max);
    void finish_message(std::size_t payload_bytes);
    void enforce_backlog_limit();
    void enforce_held_limit();
    void close_too_slow();

    const PublisherOptions options;
    PeerTable peers;
    std::vector<std::uint64_t> too_slow;  // session ids, of those that enforce_held_limit() cut off
    Later later_close;                    // of these; not from within send(): a monitor that hears of it may well send
    SegmentLog log;
    SubscriptionIndex index;
    std::unordered_map<std::uint64_t, SubscriberKey> keys;  // by session id
    std::vector<Session*> sessions_by_key;
    TopicTable topics;
    MessageBatch batch;
    std::size_t absorbed = 0;  // messages of the batch that were looked at
    std::vector<SubscriberKey> found;
    std::uint64_t messages = 0;
    std::uint64_t subscriptions_refused = 0;

    // Between start_message() and finish_message().
    Topic* topic = nullptr;
    std::byte* room = nullptr;
    std::size_t payload_header_bytes = 0;

    const std::uint64_t& flushes;
    std::uint64_t flushes_seen = 0;
    std::size_t unflushed_bytes = 0;
    std::uint64_t segments_seen = 0;
};

Publisher::State::State(Reactor& reactor, PublisherOptions options_in)
    : options(within_bounds(std::move(options_in))),
      peers(reactor, options, {zmtp::SocketType::pub, receive_buffer_bytes, false}, events()),
      later_close(reactor, [this] { close_too_slow(); }),
      log(peers.segments()),
      index({options.subscriptions_max, options.subscriptions_per_peer_max, options.subscription_bytes_per_peer_max}),
      flushes(peers.flushes()) {}

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
}

void Publisher::State::ended(const Session& session) {
    const auto key = keys.find(session.id());
    if (key == keys.end()) {
        return;  // it never got as far as subscribing
    }
    index.remove_subscriber(key->second, [this](std::string_view prefix) { topics.make_stale(prefix); });
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
        topics.make_stale(prefix);
        peers.tell(MonitorEventKind::subscribed, session, prefix);
    }
}

void Publisher::State::cancel(Session& session, std::string_view prefix) {
    if (index.erase(keys.at(session.id()), prefix)) {
        topics.make_stale(prefix);
        peers.tell(MonitorEventKind::unsubscribed, session, prefix);
    }
}

inline Topic& Publisher::State::fresh(TopicId id) {
    Topic& wanted = topics[id];
    if (!topics.is_fresh(wanted)) {
        find_readers(wanted);
    }
    return wanted;
}

void Publisher::State::find_readers(Topic& stale) {
    topics.set_fresh(stale);
    stale.readers.clear();
    stale.marked_at = 0;
    if (peers.is_closing()) {
        return;
    }
    found.clear();
    index.match(stale.name, found);
    for (const SubscriberKey key : found) {
        Session* session = sessions_by_key[static_cast<std::size_t>(key)];
        stale.readers.push_back({session, session->outbox().get()});
    }
}

inline std::byte* Publisher::State::start_message(Topic& wanted, std::size_t payload_bytes_max) {
    topic = &wanted;
    const std::size_t topic_bytes = wanted.frame.size();
    payload_header_bytes = zmtp::frame_header_bytes(payload_bytes_max);
    room = log.prepare(topic_bytes + payload_header_bytes + payload_bytes_max);
    if (segments_seen != log.segments_opened()) {
        enforce_backlog_limit();
    }
    std::memcpy(room, wanted.frame.data(), topic_bytes);
    return room + topic_bytes + payload_header_bytes;
}

inline void Publisher::State::finish_message(std::size_t payload_bytes) {
    const std::size_t topic_bytes = topic->frame.size();
    std::byte* header = room + topic_bytes;
    const std::size_t header_bytes = zmtp::write_frame_header(header, 0, payload_bytes);
    if (header_bytes != payload_header_bytes) {  // shorter than it might have been: close the gap
        std::memmove(header + header_bytes, header + payload_header_bytes, payload_bytes);
    }
    ++messages;
    const Slice message = log.commit(topic_bytes + header_bytes + payload_bytes);
    if (!topics.is_fresh(*topic)) {  // somebody came or went since start_message()
        find_readers(*topic);
    }
    for (const Reader& reader : topic->readers) {
        reader.outbox->add(message);
    }
    if (flushes_seen != flushes) {
        flushes_seen = flushes;
        unflushed_bytes = 0;
    }
    unflushed_bytes += message.end - message.begin;
    if (topic->marked_at != flushes) {  // once per topic and batch, not per message
        topic->marked_at = flushes;
        for (const Reader& reader : topic->readers) {
            peers.mark(*reader.session);
        }
    }
}

/// A segment was opened: whoever is too far behind gives up what lies before the limit.
void Publisher::State::enforce_backlog_limit() {
    segments_seen = log.segments_opened();
    if (log.end() <= options.backlog_bytes_max) {
        return;
    }
    for (const auto& session : peers.sessions()) {
        session->outbox()->give_up_before(log.end() - options.backlog_bytes_max);
    }
    enforce_held_limit();
}

/// Whoever is in the middle of a large message that the log gave up keeps its segment. The farthest behind are cut off
/// at once, however long this turn lasts; never those who are in the latest of these messages, or a single one over the
/// limit would reach nobody.
void Publisher::State::enforce_held_limit() {
    const std::size_t held_bytes_max = std::max(limits::held_bytes_max, options.backlog_bytes_max);
    while (peers.segments().held_bytes() > held_bytes_max) {
        Session* farthest = nullptr;
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        for (const auto& session : peers.sessions()) {
            const auto position = session->outbox()->backlog().held_position();
            if (!position) {
                continue;
            }
            last = std::max(last, *position);
            if (farthest == nullptr || *position < first) {
                farthest = session.get();
                first = *position;
            }
        }
        if (farthest == nullptr || first == last) {
            return;
        }
        too_slow.push_back(farthest->id());
        later_close.ask();
        farthest->cut_off();
    }
}

void Publisher::State::close_too_slow() {
    for (const std::uint64_t id : std::exchange(too_slow, {})) {
        if (Session* session = peers.find(id)) {
            session->close(reads_too_slowly);
        }
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

TopicId Publisher::intern(std::string_view topic) {
    return state_->topics.intern(topic);
}

bool Publisher::wanted(TopicId topic) {
    return !state_->fresh(topic).readers.empty();
}

void Publisher::send(TopicId id, std::string_view payload) {
    State& state = *state_;
    Topic& topic = state.fresh(id);
    if (topic.readers.empty()) {
        return skip();
    }
    std::byte* room = state.start_message(topic, payload.size());
    if (!payload.empty()) {
        std::memcpy(room, payload.data(), payload.size());
    }
    state.finish_message(payload.size());
    if (state.unflushed_bytes >= state.options.flush_bytes) {
        state.peers.flush();
    } else {
        state.peers.flush_soon();
    }
}

char* Publisher::prepare(TopicId topic, std::size_t payload_bytes_max) {
    return reinterpret_cast<char*>(state_->start_message(state_->fresh(topic), payload_bytes_max));
}

void Publisher::commit(std::size_t payload_bytes) {
    state_->finish_message(payload_bytes);
}

void Publisher::skip() {
    ++state_->messages;
}

void Publisher::flush() {
    state_->peers.flush();
}

void Publisher::close(std::chrono::milliseconds grace, std::function<void()> done) {
    state_->peers.close(grace, std::move(done));
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
    totals.messages = state_->messages;
    totals.subscriptions_refused = state_->subscriptions_refused;
    totals.subscriptions = state_->index.size();
    return totals;
}

}  // namespace telegate
