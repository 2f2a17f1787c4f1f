#pragma once

#include "core/delivery.hpp"
#include "core/endpoint.hpp"
#include "core/monitor.hpp"
#include "core/reactor.hpp"
#include "core/sample_range.hpp"
#include "core/socket_options.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// A topic that the publisher has interned, so that publishing needs no hash lookup.
enum class TopicId : std::uint32_t {};

/// Where a message contains its topic.
enum class TopicPlace : std::uint8_t {
    first_frame,  // [topic, payload]
    in_payload,   // [payload], a single frame that begins with the topic; the sender puts it there
};

/// `MonitorEvent::detail` of a subscriber that was disconnected because it exceeded a limit of subscriptions.
inline constexpr std::string_view too_many_subscriptions = "too many subscriptions";
/// Likewise, of a subscriber that was closed in favor of another client because no place was free, and of the refusal
/// of a new connection.
inline constexpr std::string_view too_many_connections_of_client = "too many connections from its address";
inline constexpr std::string_view too_many_connections = "too many connections";
/// Likewise, of a subscriber that was closed because too many others lose messages at the same time.
inline constexpr std::string_view too_many_slow_subscribers = "too many slow subscribers";

struct PublisherTotals : SocketTotals {
    std::uint64_t messages = 0;               // published, including messages without subscribers
    std::uint64_t subscriptions_refused = 0;  // over a limit
    std::size_t subscriptions = 0;            // of all peers, now

    /// Adds the counters of `other`.
    PublisherTotals& operator+=(const PublisherTotals& other) noexcept;
};

struct PublisherOptions : SocketOptions {
    std::size_t subscriptions_max = limits::subscriptions_max;
    std::size_t subscriptions_per_peer_max = limits::subscriptions_per_peer_max;
    std::size_t subscription_bytes_per_peer_max = limits::subscription_bytes_per_peer_max;
    /// Published data is handed to the sockets as soon as it reaches this size, instead of at the end of the event-loop
    /// iteration. For long messages to subscribers in the same process, at most limits::flush_bytes_in_process.
    std::size_t flush_bytes = limits::flush_bytes;
    /// Threads that write to the subscribers, 1 to 64: the reactor's thread and threads that the publisher starts. More
    /// threads help if one core cannot write to all subscribers.
    /// Subscribers accepted over tcp and ipc are distributed among the threads; inproc and outgoing connections stay on
    /// the reactor's thread. The limits apply to all threads together; the limit of memory held for slow subscribers is
    /// divided. Each additional thread may keep up to twice backlog_bytes_max of the log. If a thread is further
    /// behind, publishing waits for it.
    std::size_t io_threads = 1;
    /// Callbacks for each message that a subscriber loses, which can also notify the subscriber.
    LossHooks loss_hooks = {};
};

/// Like check_options(const SocketOptions&), and also checks the options of a publisher.
const PublisherOptions& check_options(const PublisherOptions& options);

/// PUB socket: matches each topic once and writes each message once, into a log that all subscribers read from. Peers
/// are SUB or XSUB sockets. Can bind and connect, to any number of endpoints.
///
/// Threads: the reactor's, or any while no thread runs the reactor. With several io_threads, the publisher has threads
/// of its own, which make no callbacks: events are reported on the reactor's thread, slightly later.
/// Limits: see limits.hpp and the options. A subscriber that exceeds its backlog loses its oldest whole messages, or is
/// treated as set by set_delivery(). Losses are counted by reason.
/// Failure: bind() throws std::system_error. A peer that violates the protocol or disconnects only ends its own
/// session. bind() and connect() throw std::logic_error after close().
class Publisher {
  public:
    Publisher(Reactor& reactor, PublisherOptions options);
    ~Publisher();
    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;

    /// Listens on `endpoint`. Returns the endpoint as bound (with the actual port). With `security`, connections to
    /// this endpoint use it instead of the socket's. Throws std::invalid_argument for CURVE over inproc, which has no
    /// mechanism.
    Endpoint bind(const Endpoint& endpoint, std::optional<Security> security = std::nullopt);
    /// Like bind(), but uses a socket that another process, such as a service manager, has bound to `endpoint` and that
    /// already listens. Takes ownership of the descriptor, even if it throws because the descriptor is not such a
    /// socket.
    Endpoint bind_adopted(const Endpoint& endpoint, int descriptor, std::optional<Security> security = std::nullopt);
    /// Replaces the mechanism, the keys or the allowed clients for new connections to a bound endpoint. Subscribers
    /// stay connected. Connections in the handshake are closed, since it began under the previous rules, and may
    /// reconnect. With several io_threads, such a handshake may still finish slightly later, before the next
    /// subscribers(). Returns whether the endpoint was bound.
    bool set_security(const Endpoint& endpoint, Security security);
    /// Sets how slow subscribers of a bound endpoint are treated, including those already connected. The default is
    /// drop_oldest with the backlog_bytes_max of the options, which `delivery` replaces and may exceed. A subscriber
    /// that is losing new messages keeps losing them until it has read the pending ones. unbind() resets the endpoint
    /// to the default for later connections. With several io_threads, other threads apply it slightly later. Throws
    /// std::invalid_argument that names what is not allowed.
    void set_delivery(const Endpoint& endpoint, const Delivery& delivery);
    /// Connects to `endpoint`, and retries until disconnect(). Throws std::system_error for an endpoint that can never
    /// be connected.
    void connect(const Endpoint& endpoint);
    /// Stops listening on a bound endpoint; its subscribers stay connected. Returns whether the endpoint was bound.
    bool unbind(const Endpoint& endpoint);
    /// Closes the subscribers that were accepted at a bound endpoint, now or before unbind(). They are sent nothing
    /// new, can read what is pending, and are closed after `grace`, or up to a second later.
    void close_subscribers(const Endpoint& endpoint, std::chrono::milliseconds grace);
    /// Closes the connections made by connect() and stops retrying. Returns whether there were any.
    bool disconnect(const Endpoint& endpoint);
    /// Closes the connection of one subscriber, by PeerStatus::id. Its pending messages are dropped and counted, and it
    /// may reconnect. With several io_threads, it may be closed slightly later. `why` is reported to the monitor.
    /// Returns whether the subscriber existed.
    bool close_peer(std::uint64_t id, std::string_view why = "closed on request");
    /// Returns the bound endpoints, with the actual ports.
    [[nodiscard]] std::vector<Endpoint> endpoints() const;

    /// Returns the id of a topic. The same topic in another place has another id.
    [[nodiscard]] TopicId intern(std::string_view topic, TopicPlace place = TopicPlace::first_frame);
    /// Returns whether there is any subscription.
    [[nodiscard]] bool has_subscriptions() const noexcept;
    /// Returns whether a subscription matches the topic, so that encoding is worthwhile.
    [[nodiscard]] bool wanted(TopicId topic);

    /// Returns whether a message with a payload of up to `payload_bytes`, on any topic interned so far, can be
    /// published now without a subscriber losing a message. If not, run the reactor, which also flushes committed
    /// messages. A publisher that always checks loses nothing and is as fast as its slowest subscriber. With several
    /// io_threads, this does not include subscribers of an endpoint that is no longer bound. Cheap enough to call for
    /// each message.
    [[nodiscard]] bool has_room(std::size_t payload_bytes) const;

    /// Returns whether a blocking subscriber (SlowPolicy::block) has less than two segments of its limit left. If the
    /// publisher does not wait, the subscriber may exceed its limit by limits::block_bytes_more; then it loses its
    /// oldest messages. Costs almost nothing if there are no blocking subscribers.
    [[nodiscard]] bool must_wait();
    /// Sets the handler that is called on the reactor's thread when must_wait() was true and is no longer.
    void set_on_room(std::function<void()> on_room);
    /// Sends a message to one subscriber, by PeerStatus::id, after its pending messages and regardless of its
    /// subscriptions. The message is written at the end of this event-loop iteration. Returns false if there is no such
    /// subscriber, or if it is over its limit; the latter is counted as slow and not reported to LossHooks::lost. For a
    /// subscriber on another thread, the limit is checked later: see LossHooks::refused. `samples`: see commit().
    bool send_to(std::uint64_t id, std::string_view topic, std::string_view payload,
                 const std::optional<SampleRange>& samples = std::nullopt);

    /// Publishes the payload with its topic; copies it once. The message is written at the end of this event-loop
    /// iteration, or earlier. Throws std::length_error for a message of almost 4 GiB or more, and publishes nothing.
    void send(TopicId topic, std::string_view payload);
    /// Like send(TopicId, payload), for a message that contains or reports these samples: see commit().
    void send(TopicId topic, std::string_view payload, const SampleRange& samples);
    /// Like send(TopicId, payload), for a topic that is rarely used. The topic stays interned.
    void send(std::string_view topic, std::string_view payload) { send(intern(topic), payload); }

    /// Returns a buffer for a payload of up to `payload_bytes_max` bytes, directly in the log. Call commit()
    /// afterwards.
    [[nodiscard]] char* prepare(TopicId topic, std::size_t payload_bytes_max);
    /// Like prepare() if a subscription matches the topic. Otherwise returns null and counts the message as skip()
    /// does.
    [[nodiscard]] char* prepare_if_wanted(TopicId topic, std::size_t payload_bytes_max);
    /// Publishes the first `payload_bytes` bytes of the buffer as one message. Call flush() later.
    void commit(std::size_t payload_bytes);
    /// Like commit(), for a message that contains these samples, or reports them as missing. If a subscriber loses the
    /// message for the reason `slow` or `expired`, LossHooks::lost gets them. They take sizeof(LoggedSamples) bytes of
    /// the log.
    void commit(std::size_t payload_bytes, const SampleRange& samples);
    /// Counts a message without subscribers and does not write it.
    void skip();
    /// Hands everything published to the sockets. Call once per batch of commits.
    void flush();

    /// Accepts no new connections, lets every subscriber read what is pending, then closes. Closes the remaining
    /// connections after `grace`. Calls `done`, if set, once on the reactor's thread, unless the publisher is destroyed
    /// first. A second call can only shorten the grace period.
    void close(std::chrono::milliseconds grace, std::function<void()> done);

    /// Replaces the monitor. An empty handler turns monitoring off.
    void set_monitor(MonitorHandler handler);
    /// With several io_threads, subscribers() and totals() hand over what was published, query each thread and wait for
    /// its event-loop iteration. The threads never wait for this one.
    [[nodiscard]] std::vector<PeerStatus> subscribers() const;
    [[nodiscard]] PublisherTotals totals() const;
    /// The places for connections, and the client with the most of them.
    struct Crowd {
        std::size_t connections = 0;
        std::size_t connections_max = 0;
        std::string client = {};  // see client_of()
        std::size_t of_client = 0;
    };
    /// Returns nullopt while a place is free.
    [[nodiscard]] std::optional<Crowd> crowd() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
