#include "core/publisher.hpp"

#include "core/assert.hpp"
#include "listener.hpp"
#include "segment_log.hpp"
#include "session.hpp"
#include "transport/transport.hpp"
#include "zmtp/frame.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <unordered_map>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t receive_buffer_bytes = 64 * 1024;

}  // namespace

struct Publisher::State {
    State(Reactor& reactor_in, PublisherOptions options_in);
    ~State();

    /// A topic, its finished first frame, and who receives it as of `generation`.
    struct Topic {
        std::string name;
        std::vector<std::byte> frame;
        std::vector<Session*> subscribers;
        std::uint64_t generation = 0;
    };

    Topic& up_to_date(TopicId id);
    void accept(UniqueFd descriptor, const Endpoint& at);
    void end_oldest_handshake();
    void note_accept_error(int error);
    void refuse(std::string_view peer, std::string_view why);
    void opened(Session& session);
    void ended(Session& session, std::string_view why);
    void enforce_backlog_limit();
    void finish_close();

    Reactor& reactor;
    const PublisherOptions options;
    SegmentLog log;
    SessionContext context;
    std::vector<std::shared_ptr<Listener>> listeners;
    std::vector<std::shared_ptr<Session>> sessions;
    std::vector<std::shared_ptr<Session>> dirty;  // added to since the last flush
    std::vector<Topic> topics;
    std::unordered_map<std::string, TopicId> topic_ids;
    std::uint64_t generation = 1;  // of all subscriptions together
    std::size_t handshakes = 0;
    std::uint64_t sessions_seen = 0;
    PublisherTotals totals;  // of ended sessions where it sums over sessions

    // Between prepare() and commit().
    Topic* topic = nullptr;
    std::byte* room = nullptr;
    std::size_t payload_header_bytes = 0;
    std::uint64_t segments_seen = 0;

    Timer grace;
    const std::shared_ptr<void> alive = std::make_shared<char>();  // for a handler that was queued before we went
    std::function<void()> on_closed;
};

Publisher::State::State(Reactor& reactor_in, PublisherOptions options_in)
    : reactor(reactor_in),
      options(std::move(options_in)),
      log(options.segment_bytes),
      context{reactor.context(),
              std::vector<std::byte>(receive_buffer_bytes),
              options.handshake_time_max,
              std::make_shared<std::size_t>(0),
              0,
              [this](Session& session) { opened(session); },
              [this] { ++generation; },
              [this](Session& session, std::string_view why) {
                  ended(session, why);
              }},
      grace(reactor.context()) {}

Publisher::State::~State() {
    for (const auto& listener : listeners) {
        listener->close();
    }
    while (!sessions.empty()) {
        sessions.back()->close("shutdown");
    }
}

Publisher::State::Topic& Publisher::State::up_to_date(TopicId id) {
    Topic& topic_now = topics[static_cast<std::size_t>(id)];
    if (topic_now.generation != generation) {
        topic_now.generation = generation;
        topic_now.subscribers.clear();
        for (const auto& session : sessions) {
            if (session->matches(topic_now.name)) {
                topic_now.subscribers.push_back(session.get());
            }
        }
    }
    return topic_now;
}

void Publisher::State::accept(UniqueFd descriptor, const Endpoint& at) {
    std::string peer = transport::describe_peer(descriptor.get(), at.transport);
    if (handshakes >= options.handshakes_max) {
        end_oldest_handshake();  // so that silent connections cannot keep others out
    }
    if (sessions.size() >= options.sessions_max) {
        return refuse(peer, "too many connections");
    }
    transport::tune(descriptor.get(), at.transport);
    try {
        sessions.push_back(std::make_shared<Session>(
            context, Session::Arrival{std::move(descriptor), ++sessions_seen, to_string(at), peer}));
    } catch (const std::exception& error) {
        return refuse(peer, error.what());
    }
    ++totals.connections_accepted;
    ++handshakes;
    const std::shared_ptr<Session> session = sessions.back();
    session->set_index(sessions.size() - 1);
    session->start();
}

void Publisher::State::end_oldest_handshake() {
    Session* oldest = nullptr;
    for (const auto& session : sessions) {
        if (!session->was_open() && (oldest == nullptr || session->id() < oldest->id())) {
            oldest = session.get();
        }
    }
    if (oldest != nullptr) {
        oldest->close("too many handshakes at once");
    }
}

void Publisher::State::refuse(std::string_view peer, std::string_view why) {
    ++totals.connections_refused;
    if (options.on_refused) {
        options.on_refused(peer, why);
    }
}

void Publisher::State::note_accept_error(int error) {
    ++totals.accept_errors;
    if (options.on_refused) {
        options.on_refused("", std::strerror(error));
    }
}

void Publisher::State::opened(Session& session) {
    --handshakes;
    if (options.on_subscriber) {
        options.on_subscriber(session.status());
    }
}

void Publisher::State::ended(Session& session, std::string_view why) {
    const SubscriberStatus status = session.status();
    const std::size_t index = session.index();
    const std::shared_ptr<Session> keep = std::exchange(sessions[index], nullptr);
    if (index + 1 != sessions.size()) {
        sessions[index] = std::move(sessions.back());
        sessions[index]->set_index(index);
    }
    sessions.pop_back();
    ++generation;
    totals.matched += status.matched;
    totals.sent += status.sent;
    totals.dropped += status.dropped;
    if (session.was_open()) {
        if (options.on_leave) {
            options.on_leave(status, why);
        }
    } else {
        --handshakes;
        ++totals.handshakes_failed;
        if (options.on_refused) {
            options.on_refused(status.peer, why);
        }
    }
    if (on_closed && sessions.empty()) {
        finish_close();
    }
}

void Publisher::State::enforce_backlog_limit() {
    if (segments_seen == log.segments_opened() || log.end() <= options.backlog_bytes_max) {
        return;
    }
    segments_seen = log.segments_opened();
    for (const auto& session : sessions) {
        session->give_up_before(log.end() - options.backlog_bytes_max);
    }
}

void Publisher::State::finish_close() {
    grace.cancel();
    reactor.post(std::exchange(on_closed, nullptr));
}

Publisher::Publisher(Reactor& reactor, PublisherOptions options)
    : state_(std::make_unique<State>(reactor, std::move(options))) {}

Publisher::~Publisher() = default;

Endpoint Publisher::bind(const Endpoint& endpoint) {
    TELEGATE_ASSERT(state_->reactor.is_current());
    auto listener = std::make_shared<Listener>(
        state_->reactor.context(), transport::listen(endpoint),
        [state = state_.get()](UniqueFd descriptor, const Endpoint& at) { state->accept(std::move(descriptor), at); },
        [state = state_.get()](int error) { state->note_accept_error(error); });
    listener->start();
    state_->listeners.push_back(listener);
    return listener->endpoint();
}

std::vector<Endpoint> Publisher::endpoints() const {
    std::vector<Endpoint> result;
    for (const auto& listener : state_->listeners) {
        result.push_back(listener->endpoint());
    }
    return result;
}

TopicId Publisher::intern(std::string_view topic) {
    const auto [known, added] = state_->topic_ids.try_emplace(std::string(topic), TopicId(state_->topics.size()));
    if (added) {
        State::Topic& fresh = state_->topics.emplace_back();
        fresh.name = topic;
        fresh.frame.resize(zmtp::frame_header_bytes(topic.size()) + topic.size());
        const std::size_t header = zmtp::write_frame_header(fresh.frame.data(), zmtp::frame_flag::more, topic.size());
        std::memcpy(fresh.frame.data() + header, topic.data(), topic.size());
    }
    return known->second;
}

bool Publisher::wanted(TopicId topic) {
    return !state_->up_to_date(topic).subscribers.empty();
}

char* Publisher::prepare(TopicId topic, std::size_t payload_bytes_max) {
    State& state = *state_;
    state.topic = &state.up_to_date(topic);
    const std::size_t topic_bytes = state.topic->frame.size();
    state.payload_header_bytes = zmtp::frame_header_bytes(payload_bytes_max);
    state.room = state.log.prepare(topic_bytes + state.payload_header_bytes + payload_bytes_max);
    state.enforce_backlog_limit();
    std::memcpy(state.room, state.topic->frame.data(), topic_bytes);
    return reinterpret_cast<char*>(state.room + topic_bytes + state.payload_header_bytes);
}

void Publisher::commit(std::size_t payload_bytes) {
    State& state = *state_;
    const std::size_t topic_bytes = state.topic->frame.size();
    std::byte* header = state.room + topic_bytes;
    const std::size_t header_bytes = zmtp::write_frame_header(header, 0, payload_bytes);
    if (header_bytes != state.payload_header_bytes) {  // shorter than it might have been: close the gap
        std::memmove(header + header_bytes, header + state.payload_header_bytes, payload_bytes);
    }
    ++state.totals.messages;
    const Slice message = state.log.commit(topic_bytes + header_bytes + payload_bytes);
    for (Session* session : state.topic->subscribers) {
        if (session->add(message)) {
            state.dirty.push_back(session->shared_from_this());
        }
    }
}

void Publisher::skip() {
    ++state_->totals.messages;
}

void Publisher::flush() {
    TELEGATE_ASSERT(state_->reactor.is_current());
    for (const auto& session : state_->dirty) {
        session->flush();
    }
    state_->dirty.clear();
}

void Publisher::close(std::chrono::milliseconds grace, std::function<void()> done) {
    TELEGATE_ASSERT(state_->reactor.is_current());
    State& state = *state_;
    for (const auto& listener : state.listeners) {
        listener->close();
    }
    state.on_closed = std::move(done);
    if (state.sessions.empty()) {
        return state.finish_close();
    }
    state.grace.expires_after(grace);
    state.grace.async_wait([&state, alive = std::weak_ptr<void>(state.alive)](const ErrorCode& error) {
        while (!error && !alive.expired() && !state.sessions.empty()) {
            state.sessions.back()->close("did not read in time");
        }
    });
    ++state.generation;                    // from here on no topic has subscribers
    const auto sessions = state.sessions;  // drain() may end one
    for (const auto& session : sessions) {
        session->drain();
    }
}

std::vector<SubscriberStatus> Publisher::subscribers() const {
    std::vector<SubscriberStatus> result;
    for (const auto& session : state_->sessions) {
        if (session->was_open()) {
            result.push_back(session->status());
        }
    }
    return result;
}

PublisherTotals Publisher::totals() const {
    PublisherTotals totals = state_->totals;
    totals.subscriptions_refused = state_->context.subscriptions_refused;
    for (const auto& session : state_->sessions) {
        const SubscriberStatus status = session->status();
        totals.matched += status.matched;
        totals.sent += status.sent;
        totals.dropped += status.dropped;
        totals.pending += status.pending;
    }
    return totals;
}

}  // namespace telegate
