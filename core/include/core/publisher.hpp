#pragma once

#include "core/delivery.hpp"
#include "core/endpoint.hpp"
#include "core/monitor.hpp"
#include "core/reactor.hpp"
#include "core/socket_options.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace telegate {

/// A topic that the publisher has seen before, so that publishing it hashes nothing.
enum class TopicId : std::uint32_t {};

/// Where a message has its topic.
enum class TopicPlace : std::uint8_t {
    first_frame,  // [topic, payload]
    in_payload,   // [payload], a single frame, which begins with the topic: the sender sees to that
};

/// The reason, in `MonitorEvent::detail`, why a subscriber that exceeds a limit of subscriptions was disconnected.
inline constexpr std::string_view too_many_subscriptions = "too many subscriptions";

struct PublisherTotals : SocketTotals {
    std::uint64_t messages = 0;               // published, whether or not anybody had asked for them
    std::uint64_t subscriptions_refused = 0;  // over a limit
    std::size_t subscriptions = 0;            // of all peers, now

    /// What all count together.
    PublisherTotals& operator+=(const PublisherTotals& other) noexcept;
};

struct PublisherOptions : SocketOptions {
    std::size_t subscriptions_max = limits::subscriptions_max;
    std::size_t subscriptions_per_peer_max = limits::subscriptions_per_peer_max;
    std::size_t subscription_bytes_per_peer_max = limits::subscription_bytes_per_peer_max;
    /// Published bytes that are handed to the sockets at once instead of at the end of the turn; of long messages for
    /// subscribers in the process never more than limits::flush_bytes_in_process.
    std::size_t flush_bytes = limits::flush_bytes;
    /// Threads that write to the subscribers, 1 to 64: the reactor's own, and those that the publisher starts. More pay
    /// when one core cannot write to all subscribers. Subscribers by tcp and ipc that come in are shared out, inproc
    /// and what was connected stay with the reactor; the limits hold for all together, that of what is held for the
    /// slow is divided. Each thread more may keep up to twice backlog_bytes_max of the log besides. Who publishes
    /// without has_room() may be faster than the threads: then fast subscribers lose messages too.
    std::size_t io_threads = 1;
    /// Who hears of each message that a subscriber loses, and has subscribers told. Needs io_threads 1.
    LossHooks loss_hooks = {};
};

/// The same for those of a publisher.
const PublisherOptions& check_options(const PublisherOptions& options);

/// PUB: matches once per topic, writes each message once into a log that all subscribers read from. Talks to SUB and
/// XSUB. Binds and connects, to any number of endpoints.
///
/// Threads: the reactor's, or any while nobody turns the reactor. With io_threads it has others of its own, which call
///          nobody: events come on the reactor's, a little later.
/// Limits:  see limits.hpp and the options; a subscriber over its backlog loses its oldest whole messages, or what
///          set_delivery() says, counted by reason.
/// Failure: bind() throws std::system_error; a peer that breaks the protocol or goes away ends its own session only.
///          bind() and connect() throw std::logic_error after close().
class Publisher {
  public:
    Publisher(Reactor& reactor, PublisherOptions options);
    ~Publisher();
    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;

    /// Listens, and returns the endpoint as bound (with the real port).
    Endpoint bind(const Endpoint& endpoint);
    /// The same with a mechanism of its own for who comes in there, in place of the socket's. Over inproc there is
    /// none, and CURVE is std::invalid_argument.
    Endpoint bind(const Endpoint& endpoint, Security security);
    /// The same on a socket that somebody else has bound to `endpoint` and listens on, such as a service manager. The
    /// descriptor is taken over, also when this throws: when it is no such socket.
    Endpoint bind_adopted(const Endpoint& endpoint, int descriptor);
    Endpoint bind_adopted(const Endpoint& endpoint, int descriptor, Security security);
    /// Another mechanism, other keys or other clients for who comes in at the endpoint as bound from now on.
    /// Subscribers stay. What is in its handshake there is closed, since that began under the other rules, and may come
    /// again; with io_threads one may finish it a little later, before the next subscribers(). Whether it was bound.
    bool set_security(const Endpoint& endpoint, Security security);
    /// How who comes in at the endpoint as bound, now and from now on, is treated when it reads slowly; until then as
    /// the options say, by drop_oldest. In place of backlog_bytes_max of the options, and may be more. A subscriber
    /// that loses its newest goes on with that until it has read what waits. unbind() forgets it for who comes later.
    /// Throws std::invalid_argument that names what is not allowed, and with io_threads for anything but the defaults.
    void set_delivery(const Endpoint& endpoint, const Delivery& delivery);
    /// Throws std::system_error for an endpoint that can never be connected; otherwise tries until disconnect().
    void connect(const Endpoint& endpoint);
    /// Stops listening at the endpoint as bound; its subscribers stay. Whether it was bound.
    bool unbind(const Endpoint& endpoint);
    /// Closes the subscribers that have come in at the endpoint as bound, now or before unbind(): each is given nothing
    /// new, may take what is pending, and is cut after `grace`, or up to a second later.
    void close_subscribers(const Endpoint& endpoint, std::chrono::milliseconds grace);
    /// Closes what connect() made. Whether there was any.
    bool disconnect(const Endpoint& endpoint);
    /// Closes the connection of one subscriber, by PeerStatus::id; what waits for it is dropped, counted, and it may
    /// come again. Whether there was one. With io_threads it may end a little later. `why` is for the monitor.
    bool close_peer(std::uint64_t id, std::string_view why = "closed on request");
    /// As bound.
    [[nodiscard]] std::vector<Endpoint> endpoints() const;

    /// The same topic at the other place is another one.
    [[nodiscard]] TopicId intern(std::string_view topic, TopicPlace place = TopicPlace::first_frame);
    /// Whether anybody has subscribed to anything.
    [[nodiscard]] bool has_subscriptions() const noexcept;
    /// Whether some subscription matches, so that encoding is worth while.
    [[nodiscard]] bool wanted(TopicId topic);

    /// Whether a message with a payload of up to `payload_bytes`, on any topic interned so far, can be published now
    /// without a subscriber losing one. While not, turn the reactor, which also flushes what was committed: a publisher
    /// that always asks loses nothing, and is as fast as its slowest subscriber. Cheap enough to ask for each message.
    [[nodiscard]] bool has_room(std::size_t payload_bytes) const;

    /// Whether a subscriber with SlowPolicy::block has no room for two segments more. What is published all the same is
    /// given up to limits::block_bytes_more more room, then the subscriber loses its oldest. Costs next to nothing
    /// where there are none with that policy.
    [[nodiscard]] bool must_wait();
    /// Called on the reactor's thread when must_wait() was true and is not any more.
    void set_on_room(std::function<void()> on_room);
    /// One message for one subscriber, by PeerStatus::id, behind what it has got, whatever it has subscribed to. On its
    /// way at the end of this turn. False when it is over its limit, which is counted as slow and not told to the
    /// hooks, or there is none. Throws std::invalid_argument with io_threads.
    bool send_to(std::uint64_t id, std::string_view topic, std::string_view payload);

    /// Publishes the payload with its topic; copies it once. On its way at the end of this turn of the loop, or sooner.
    /// Throws std::length_error for a message of 4 GiB or more, and publishes nothing.
    void send(TopicId topic, std::string_view payload);
    /// The same for a topic used rarely: interns it first, and it stays interned.
    void send(std::string_view topic, std::string_view payload) { send(intern(topic), payload); }

    /// Room for a payload of up to `payload_bytes_max` bytes, directly in the log; commit() follows.
    [[nodiscard]] char* prepare(TopicId topic, std::size_t payload_bytes_max);
    /// The same when somebody wants the topic. Otherwise null, and the message is counted as by skip().
    [[nodiscard]] char* prepare_if_wanted(TopicId topic, std::size_t payload_bytes_max);
    /// Publishes the first `payload_bytes` bytes of the room as one message; flush() follows some time.
    void commit(std::size_t payload_bytes);
    /// A message that nobody has asked for: counted, not written.
    void skip();
    /// Hands everything published to the sockets. Call once per batch of commits.
    void flush();

    /// Accepts nobody new, lets every subscriber take what is pending, then closes; cuts after `grace`.
    /// `done`, unless empty, is called on the reactor's thread, once, unless the publisher goes first. A second call
    /// can only shorten the grace.
    void close(std::chrono::milliseconds grace, std::function<void()> done);

    /// Replaces the monitor; an empty one switches it off.
    void set_monitor(MonitorHandler handler);
    /// With io_threads these two hand over what was published, ask each thread and wait for its turn of the loop; it
    /// never waits for this one.
    [[nodiscard]] std::vector<PeerStatus> subscribers() const;
    [[nodiscard]] PublisherTotals totals() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
