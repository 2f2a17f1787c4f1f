#include "core/subscriber.hpp"

#include "peers/fair_queue.hpp"
#include "peers/peer_table.hpp"
#include "publish/subscription_index.hpp"
#include "zmtp/command.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace telegate {

namespace {

using zmtp::Subscription;

/// Frame header, name and length of SUBSCRIBE, at most.
constexpr std::size_t command_bytes_around_prefix = 32;
/// With smaller segments, an introduction would have more runs than a backlog can hold.
constexpr std::size_t segment_bytes_min = 64 * 1024;

// Includes the bytes that a segment may leave unused at its end.
static_assert((limits::subscription_bytes_total_max + limits::subscriptions_max * command_bytes_around_prefix) /
                      (segment_bytes_min - limits::subscription_bytes_max - command_bytes_around_prefix) <
                  limits::backlog_runs_max,
              "an introduction has a run for each segment");

constexpr SubscriptionIndex::Limits own_limits{
    .subscriptions_max = limits::subscriptions_max,
    .per_subscriber_max = limits::subscriptions_max,
    .bytes_per_subscriber_max = limits::subscription_bytes_total_max,
};

/// A prefix of up to 16 bytes. Topics of at least 8 bytes are compared with it in two steps. Longer prefixes are not
/// kept.
class LastPrefix {
  public:
    LastPrefix() = default;
    explicit LastPrefix(std::string_view prefix) noexcept {
        if (prefix.empty() || prefix.size() > 2 * step_bytes) {
            return;
        }
        const std::size_t head_bytes = std::min(prefix.size(), step_bytes);
        std::memcpy(&head_, prefix.data(), head_bytes);
        std::memset(&mask_, 0xFF, head_bytes);
        tail_at_ = prefix.size() - head_bytes;
        tail_ = tail_at_ == 0 ? head_ : number_at(prefix.data() + tail_at_);
        topic_bytes_min_ = std::max(prefix.size(), step_bytes);
    }
    /// Returns whether `topic` is known to begin with the prefix.
    [[nodiscard]] bool begins(std::string_view topic) const noexcept {
        return topic.size() >= topic_bytes_min_ &&
               (((number_at(topic.data()) ^ head_) | (number_at(topic.data() + tail_at_) ^ tail_)) & mask_) == 0;
    }

  private:
    static constexpr std::size_t step_bytes = sizeof(std::uint64_t);

    [[nodiscard]] static std::uint64_t number_at(const char* text) noexcept {
        std::uint64_t number = 0;
        std::memcpy(&number, text, sizeof number);
        return number;
    }

    std::size_t topic_bytes_min_ = SIZE_MAX;  // no prefix is kept
    std::size_t tail_at_ = 0;
    std::uint64_t head_ = 0;
    std::uint64_t tail_ = 0;  // the last step, which may overlap the first; the same if there is only one
    std::uint64_t mask_ = 0;
};

SocketOptions with_segments(SocketOptions options) {
    check_options(options);
    options.segment_bytes = std::max(options.segment_bytes, segment_bytes_min);
    return options;
}

}  // namespace

struct Subscriber::State {
    State(Reactor& reactor, SocketOptions socket_options);

    [[nodiscard]] SessionEvents events();
    /// Sends all subscriptions to a new publisher.
    void introduce(Session& session);
    void send_subscription(Session& session, const Subscription& subscription);
    template <class Each>
    void for_each_session(const Each& each);
    void send_to_all(const Subscription& subscription);
    void filter(MessageBatch& batch);
    [[nodiscard]] bool is_wanted(std::string_view topic);

    const SocketOptions options;
    SubscriptionIndex prefixes{own_limits};
    const SubscriberKey self = prefixes.add_subscriber();
    std::size_t introduction_bytes = 0;  // of all prefixes sent to one publisher, at most
    std::uint64_t filtered = 0;
    LastPrefix last_prefix;       // the last prefix that matched a topic
    std::vector<std::byte> wire;  // of the command being sent
    FairQueue queue;
    PeerTable table;
};

Subscriber::State::State(Reactor& reactor, SocketOptions socket_options)
    : options(with_segments(std::move(socket_options))),
      queue(reactor, [this](MessageBatch& batch) { filter(batch); }),
      table(reactor, options, {.socket_type = zmtp::SocketType::sub}, events()) {}

SessionEvents Subscriber::State::events() {
    return {
        .opened = [this](Session& session) { introduce(session); },
        .readable = [this](Session& session) { queue.add(session); },
        .ended = [this](Session& session, std::string_view) { queue.remove(session); },
    };
}

void Subscriber::State::introduce(Session& session) {
    if (prefixes.size() == 0) {
        return;
    }
    const std::vector<std::string> all = prefixes.some(self, prefixes.size());
    for (const std::string& prefix : all) {
        wire.clear();
        zmtp::append_subscription(wire, session.peer().minor, {Subscription::Kind::subscribe, as_bytes(prefix)});
        session.outbox()->append_wire(wire);
    }
    table.flush_soon(session);
}

void Subscriber::State::send_subscription(Session& session, const Subscription& subscription) {
    wire.clear();
    zmtp::append_subscription(wire, session.peer().minor, subscription);
    Outbox& outbox = *session.outbox();
    // Its introduction may still be pending. If many changes are pending as well, a new introduction is shorter.
    if (!outbox.has_room(wire.size(), introduction_bytes + options.backlog_bytes_max)) {
        session.close("peer does not read subscriptions");
        return;
    }
    outbox.append_wire(wire);
    table.flush_soon(session);
}

/// Starts from the back, because a closed session is replaced by the last one, which was already visited.
template <class Each>
void Subscriber::State::for_each_session(const Each& each) {
    for (std::size_t index = table.sessions().size(); index-- > 0;) {
        if (index < table.sessions().size()) {
            each(*table.sessions()[index]);
        }
    }
}

void Subscriber::State::send_to_all(const Subscription& subscription) {
    for_each_session([&](Session& session) {
        if (session.state() == Session::State::open) {
            send_subscription(session, subscription);
        }
    });
}

/// A separate function, so that the loop around it stays small.
[[gnu::noinline]] bool Subscriber::State::is_wanted(std::string_view topic) {
    const auto bytes = prefixes.matching_bytes(topic);
    if (bytes) {
        last_prefix = LastPrefix(topic.substr(0, *bytes));
    }
    return bytes.has_value();
}

void Subscriber::State::filter(MessageBatch& batch) {
    if (prefixes.matches({})) {  // every topic is wanted
        return;
    }
    const std::size_t before = batch.size();
    LastPrefix last = last_prefix;
    batch.keep_if([&](const Message& message) {
        const std::string_view topic = message.text(0);
        if (last.begins(topic)) {
            return true;
        }
        const bool wanted = is_wanted(topic);
        last = last_prefix;
        return wanted;
    });
    filtered += before - batch.size();
}

Subscriber::Subscriber(std::unique_ptr<State> state)
    : ReceivingSocket(state->table, state->queue), state_(std::move(state)) {}
Subscriber::Subscriber(Reactor& reactor, SocketOptions options)
    : Subscriber(std::make_unique<State>(reactor, std::move(options))) {}
Subscriber::~Subscriber() = default;

void Subscriber::subscribe(std::string_view prefix) {
    if (prefix.size() > limits::subscription_bytes_max) {
        throw std::length_error("subscription is too long: " + std::to_string(prefix.size()) +
                                " bytes; must be at most " + std::to_string(limits::subscription_bytes_max) + " bytes");
    }
    switch (state_->prefixes.insert(state_->self, prefix)) {
        case SubscriptionIndex::Insert::added: break;
        case SubscriptionIndex::Insert::known: return;
        case SubscriptionIndex::Insert::refused: throw std::length_error("cannot add a subscription: limit reached");
    }
    state_->introduction_bytes += prefix.size() + command_bytes_around_prefix;
    state_->send_to_all({Subscription::Kind::subscribe, as_bytes(prefix)});
}

void Subscriber::unsubscribe(std::string_view prefix) {
    if (!state_->prefixes.erase(state_->self, prefix)) {
        return;
    }
    state_->last_prefix = LastPrefix();
    state_->introduction_bytes -= prefix.size() + command_bytes_around_prefix;
    state_->send_to_all({Subscription::Kind::cancel, as_bytes(prefix)});
}

void Subscriber::close() {
    state_->table.close(std::chrono::milliseconds(0), {});
    state_->for_each_session([](Session& session) { session.close("closed"); });
}

void Subscriber::connect(const Endpoint& endpoint) {
    state_->table.connect(endpoint, {});
}
bool Subscriber::disconnect(const Endpoint& endpoint) {
    return state_->table.disconnect(endpoint);
}
SubscriberTotals Subscriber::totals() const {
    return {state_->table.totals(), state_->filtered, state_->prefixes.size()};
}

}  // namespace telegate
