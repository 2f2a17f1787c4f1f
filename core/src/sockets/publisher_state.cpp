#include "sockets/publisher_state.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

// Tracks the subscribers, what they read, and on which thread they are.

namespace telegate {
namespace {

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

Publisher::State::State(Reactor& reactor, PublisherOptions options_in)
    : options(within_bounds(std::move(options_in))),
      reader([this](const Session& session, const zmtp::Subscription& subscription) {
          change(session.id(), subscription);
      }),
      peers(reactor, options, {zmtp::SocketType::pub, subscriber_receive_buffer_bytes}, events()),
      log(reactor, peers, tail, options),
      deliveries(reactor, peers, log, options),
      index({options.subscriptions_max, options.subscriptions_per_peer_max, options.subscription_bytes_per_peer_max,
             options.sessions_max}),
      found_remote(options.io_threads - 1) {
    if (options.io_threads > 1) {
        shards = std::make_unique<Shards>(Shards::Setup{reactor, options, peers}, remote_events());
        log.share(shards->lanes());
    }
}

Publisher::State::~State() {
    log.settle();  // also to the lanes
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
        deliveries.look_for_room();
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
        deliveries.look_for_room();
    };
    return events;
}

void Publisher::State::opened(const Subscriber& subscriber) {
    const SubscriberKey key = index.add_subscriber();
    const auto place = static_cast<std::size_t>(key);
    try {
        subscribers_by_key.resize(std::max(subscribers_by_key.size(), place + 1));
        keys.emplace(subscriber.id, key);
    } catch (const std::bad_alloc&) {
        index.remove_subscriber(key);
        throw;
    }
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
    return session != nullptr || (shards != nullptr && shards->close_peer(id, why));
}

void Publisher::State::change(std::uint64_t id, const zmtp::Subscription& subscription) {
    const auto key = keys.find(id);
    if (key == keys.end() || subscribers_by_key[static_cast<std::size_t>(key->second)].is_closing) {
        return;  // memory was exhausted, or it is being closed
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
    log.settle();  // the tail relies on the readers staying the same
    topics.make_stale(prefix);
}

void Publisher::State::find_readers(Topic& topic) {
    auto readers = std::make_shared<ReaderSet>();
    found.clear();
    for (auto& each : found_remote) {
        each.clear();  // an attempt that ran out of memory may have left some
    }
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
            Lane& lane = *shards->lanes()[shard];
            readers.lanes.push_back(lane.share_of(std::exchange(found_remote[shard], {})));
            readers.outboxes.push_back(&lane.outbox());
        }
    }
}

}  // namespace telegate
