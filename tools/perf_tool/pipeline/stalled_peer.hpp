#pragma once

#include "core/endpoint.hpp"
#include "core/reactor.hpp"
#include "core/subscriber.hpp"

namespace telegate::perf {

/// A subscriber of everything that comes in, and then reads nothing for as long as it lives: what is sent to it fills
/// the buffers of its connection.
///
/// Threads: the owner's. Limits: those of its connection. Failure: as Subscriber.
class StalledPeer {
  public:
    explicit StalledPeer(const Endpoint& endpoint) : subscriber_(reactor_, {}) {
        subscriber_.subscribe("");
        subscriber_.connect(endpoint);
    }

    /// Goes on with the handshake; to be called until the publisher has its subscription, and not again.
    void come_in() { reactor_.poll(); }

  private:
    Reactor reactor_;
    Subscriber subscriber_;
};

}  // namespace telegate::perf
