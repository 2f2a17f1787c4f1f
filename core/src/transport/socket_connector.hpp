#pragma once

#include "core/reactor.hpp"
#include "core/unique_fd.hpp"
#include "core/watch.hpp"
#include "transport/socket_address.hpp"
#include "transport/socket_stream.hpp"
#include "transport/transport.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace telegate::transport {

/// Connector over stream sockets. Reports the error of the last address if no address accepts.
/// Threads: the reactor's thread. Limits: one descriptor at a time. Failure: as Connector.
class SocketConnector final : public Connector {
  public:
    SocketConnector(Reactor& reactor, Destination destination, MakeStream make_stream, OnConnected on_connected);

  private:
    void try_next();
    [[nodiscard]] int begin(const SocketAddress& address);
    void finish_connect();
    void finish(std::unique_ptr<Stream> stream);

    Reactor& reactor_;
    const std::vector<SocketAddress> addresses_;
    const MakeStream make_stream_;
    OnConnected on_connected_;
    std::size_t next_ = 0;
    int error_;
    UniqueFd descriptor_;
    std::unique_ptr<Watch> watch_;  // destroyed before the descriptor
    Alarm failure_alarm_;           // so that the callback never runs within the constructor
};

/// Returns the result of a connect() that had to wait: 0 or an errno value. A tcp socket that connects to a free port
/// in the system's ephemeral range may connect to itself; that counts as refused.
[[nodiscard]] int outcome_of_connect(int descriptor) noexcept;

}  // namespace telegate::transport
