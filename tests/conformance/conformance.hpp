#pragma once

#include "support/catch.hpp"
#include "support/socket_harness.hpp"

#include <functional>
#include <string>
#include <vector>

/// The suite that every transport must pass. The cases are in *_test.cpp; each runs for all transports that are
/// registered by a ConformingTransport in their own files.
namespace telegate::test {

struct TransportTraits {
    std::string name;
    /// Returns a new endpoint to bind; binding returns the one to connect to.
    std::function<Endpoint(const ScratchDir&)> to_bind;
    /// Returns a new endpoint that is known before it is bound.
    std::function<Endpoint(const ScratchDir&)> known;
    bool leaves_the_process = true;  // so that CURVE protects something, and a peer of raw bytes can connect
    std::size_t io_threads = 1;      // of publishers
};

/// Returns all registered transports.
[[nodiscard]] std::vector<TransportTraits>& transports();

/// Registers a transport.
struct ConformingTransport {
    explicit ConformingTransport(TransportTraits traits) { transports().push_back(std::move(traits)); }
};

/// Within a test case: runs it for each transport.
[[nodiscard]] const TransportTraits& each_transport();
/// The same for transports whose data leaves the process.
[[nodiscard]] const TransportTraits& each_outer_transport();
/// The same for each transport, and for publishers with several threads.
[[nodiscard]] const TransportTraits& each_publisher_transport();
/// Both conditions combined.
[[nodiscard]] const TransportTraits& each_outer_publisher_transport();

/// Returns the options with the number of threads that `transport` requires.
[[nodiscard]] PublisherOptions on_threads(const TransportTraits& transport, PublisherOptions options = {});
[[nodiscard]] inline SocketOptions on_threads(const TransportTraits& /*transport*/, SocketOptions options) {
    return options;
}

template <class Socket>
struct OptionsOf {
    using Type = SocketOptions;
};
template <>
struct OptionsOf<Publisher> {
    using Type = PublisherOptions;
};
template <class Socket>
[[nodiscard]] typename OptionsOf<Socket>::Type named(std::string identity) {
    typename OptionsOf<Socket>::Type options;
    options.identity = std::move(identity);
    return options;
}

enum class Binder : std::uint8_t { first, second };

/// Two sockets linked by one endpoint, each known to ROUTER peers by its name.
///
/// Threads: one. Limits: as its sockets. Failure: bind() and connect() may throw.
template <class First, class Second>
class Pair : public Bench {
  public:
    explicit Pair(const TransportTraits& transport, Binder binder = Binder::first)
        : Pair(transport, binder, named<First>("first"), named<Second>("second")) {}
    Pair(const TransportTraits& transport, Binder binder, typename OptionsOf<First>::Type first_options,
         typename OptionsOf<Second>::Type second_options)
        : first(reactor, on_threads(transport, std::move(first_options))),
          second(reactor, on_threads(transport, std::move(second_options))) {
        if (binder == Binder::first) {
            endpoint = first.bind(transport.to_bind(scratch));
            second.connect(endpoint);
        } else {
            endpoint = second.bind(transport.to_bind(scratch));
            first.connect(endpoint);
        }
    }

    /// Runs the event loop until both are connected. Returns whether they are.
    bool is_open() {
        return turn_until([&] { return peers_of(first).size() == 1 && peers_of(second).size() == 1; });
    }

    First first;
    Second second;
    Endpoint endpoint;
};

/// Subscribes to `prefixes` and waits until the publisher has the subscriptions. Returns whether it does.
bool subscribe_to(Pair<Publisher, Subscriber>& pair, const std::vector<std::string>& prefixes);

/// Returns numbers as text, so that a test shows what is missing.
[[nodiscard]] std::vector<Frames> numbered(std::size_t count);

}  // namespace telegate::test
