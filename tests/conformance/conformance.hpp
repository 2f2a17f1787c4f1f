#pragma once

#include "support/catch.hpp"
#include "support/socket_harness.hpp"

#include <functional>
#include <string>
#include <vector>

/// The suite that every transport must pass. The cases are in *_test.cpp; each runs over all transports that a
/// ConformingTransport in a file of its own has named.
namespace telegate::test {

struct TransportTraits {
    std::string name;
    /// A fresh endpoint to bind, which answers with the one to connect to.
    std::function<Endpoint(const ScratchDir&)> to_bind;
    /// A fresh endpoint that is known before it is bound.
    std::function<Endpoint(const ScratchDir&)> known;
    bool leaves_the_process = true;  // so that CURVE guards something, and a peer of raw bytes can come
    std::size_t io_threads = 1;      // of publishers
};

/// All that were named.
[[nodiscard]] std::vector<TransportTraits>& transports();

/// Names one.
struct ConformingTransport {
    explicit ConformingTransport(TransportTraits traits) { transports().push_back(std::move(traits)); }
};

/// Within a test case: runs it for each transport.
[[nodiscard]] const TransportTraits& each_transport();
/// The same, for those that leave the process.
[[nodiscard]] const TransportTraits& each_outer_transport();
/// For each transport, and for publishers that have several threads.
[[nodiscard]] const TransportTraits& each_publisher_transport();
/// The last two together.
[[nodiscard]] const TransportTraits& each_outer_publisher_transport();

/// With as many threads as are asked for.
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

/// Two sockets that one endpoint links, each known to ROUTER peers by its name.
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

    /// Turns until each has the other.
    bool is_open() {
        return turn_until([&] { return peers_of(first).size() == 1 && peers_of(second).size() == 1; });
    }

    First first;
    Second second;
    Endpoint endpoint;
};

/// A publisher and a subscriber of everything, with the subscription in place.
bool subscribe_to(Pair<Publisher, Subscriber>& pair, const std::vector<std::string>& prefixes);

/// Numbers as text, so that a test sees what is missing.
[[nodiscard]] std::vector<Frames> numbered(std::size_t count);

}  // namespace telegate::test
