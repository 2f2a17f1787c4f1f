#pragma once

#include "core/publisher.hpp"
#include "peers/peer_table.hpp"
#include "publish/deliveries.hpp"
#include "publish/publish_log.hpp"
#include "publish/subscription_index.hpp"
#include "publish/subscription_reader.hpp"
#include "publish/topic_table.hpp"
#include "shards/shards.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace telegate {

/// The implementation of Publisher: publisher.cpp has the public functions, publisher_state.cpp tracks the subscribers
/// and what they read.
/// Threads, Limits, Failure: as Publisher.
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
    /// Not inlined, so that Publisher::send() stays short.
    [[gnu::noinline]] void send(Topic& topic, std::string_view payload);

    const PublisherOptions options;
    Tail tail;  // outlives the sessions, whose outboxes refer to it
    SubscriptionReader reader;
    PeerTable peers;
    PublishLog log;
    Deliveries deliveries;
    SubscriptionIndex index;
    std::unordered_map<std::uint64_t, SubscriberKey> keys;  // by session id
    std::vector<Subscriber> subscribers_by_key;
    std::unique_ptr<Shards> shards;  // null with one thread
    TopicTable topics;               // its readers refer to lanes
    std::vector<SubscriberKey> found;
    std::vector<std::vector<LaneReader>> found_remote;  // by shard
    std::uint64_t subscriptions_refused = 0;
};

}  // namespace telegate
