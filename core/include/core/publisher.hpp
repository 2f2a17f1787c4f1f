#pragma once

#include "core/endpoint.hpp"
#include "core/limits.hpp"
#include "core/reactor.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// A topic that the publisher has seen before, so that publishing it hashes nothing.
enum class TopicId : std::uint32_t {};

/// One connected subscriber. `matched = sent + dropped + pending` holds in every copy.
struct SubscriberStatus {
    std::uint64_t id = 0;                    // from 1, in order of arrival
    std::string endpoint;                    // the endpoint of ours that it came to
    std::string peer;                        // "127.0.0.1:50312", or "pid=712 uid=1000" over ipc
    std::vector<std::string> subscriptions;  // the first few, as sent: prefixes, any bytes
    std::size_t subscriptions_count = 0;
    std::uint64_t matched = 0;  // messages that one of its subscriptions matched
    std::uint64_t sent = 0;     // handed to the kernel, whole
    std::uint64_t dropped = 0;  // oldest messages given up because it reads too slowly, or lost when it left
    std::uint64_t pending = 0;
    std::size_t backlog_bytes = 0;
};

struct PublisherTotals {
    std::uint64_t messages = 0;  // commits, whether or not anybody had asked for them
    std::uint64_t connections_accepted = 0;
    std::uint64_t connections_refused = 0;  // over a limit, or the event loop has no room
    std::uint64_t accept_errors = 0;        // mostly a lack of descriptors
    std::uint64_t handshakes_failed = 0;
    std::uint64_t subscriptions_refused = 0;  // over a limit
    std::uint64_t matched = 0;                // these four: over all subscribers, those that have left included
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;
    std::uint64_t pending = 0;
};

struct PublisherOptions {
    std::size_t backlog_bytes_max = limits::backlog_bytes_max;
    std::size_t sessions_max = limits::sessions_max;
    std::size_t handshakes_max = limits::handshakes_max;
    std::chrono::milliseconds handshake_time_max = limits::handshake_time_max;
    std::size_t segment_bytes = 64 * 1024;  // unit of the log; one message takes one segment at most, or its own
    /// Called on the io thread. `why` is one word or a short phrase.
    std::function<void(const SubscriberStatus&)> on_subscriber;
    std::function<void(const SubscriberStatus&, std::string_view why)> on_leave;
    std::function<void(std::string_view peer, std::string_view why)> on_refused;
};

/// PUB: encodes nothing, matches once per topic, writes each message once into a log that all subscribers read from.
///
/// Threads: the reactor's, or any while the reactor does not run.
/// Limits:  see limits.hpp; a subscriber over its backlog loses its oldest whole messages, counted.
/// Failure: bind() throws std::system_error; a peer that breaks the protocol or goes away ends its own session only.
class Publisher {
  public:
    Publisher(Reactor& reactor, PublisherOptions options);
    ~Publisher();
    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;

    /// Listens, and returns the endpoint as bound (with the real port).
    Endpoint bind(const Endpoint& endpoint);
    [[nodiscard]] std::vector<Endpoint> endpoints() const;

    [[nodiscard]] TopicId intern(std::string_view topic);
    /// Whether some subscription matches, so that encoding is worth while.
    [[nodiscard]] bool wanted(TopicId topic);

    /// Room for a payload of up to `payload_bytes_max` bytes, directly in the log; commit() follows.
    [[nodiscard]] char* prepare(TopicId topic, std::size_t payload_bytes_max);
    /// Publishes the first `payload_bytes` bytes of the room as one message [topic, payload].
    void commit(std::size_t payload_bytes);
    /// A message that nobody has asked for: counted, not written.
    void skip();
    /// Hands everything committed to the sockets. Call once per batch.
    void flush();

    /// Accepts nobody new, lets every subscriber take what is pending, then closes; cuts after `grace`.
    /// `done` is called on the io thread.
    void close(std::chrono::milliseconds grace, std::function<void()> done);

    [[nodiscard]] std::vector<SubscriberStatus> subscribers() const;
    [[nodiscard]] PublisherTotals totals() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace telegate
