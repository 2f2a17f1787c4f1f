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

/// Connector over stream sockets. Gives the error of the last address when none answers.
/// Threads: the reactor's. Limits: one descriptor at a time. Failure: as Connector.
class SocketConnector final : public Connector {
  public:
    SocketConnector(Reactor& reactor, Destination destination, MakeStream make_stream, OnConnected on_connected);

  private:
    void try_next();
    [[nodiscard]] int begin(const SocketAddress& address);
    void look();
    void finish(std::unique_ptr<Stream> stream);

    Reactor& reactor_;
    const std::vector<SocketAddress> addresses_;
    const MakeStream make_stream_;
    OnConnected on_connected_;
    std::size_t next_ = 0;
    int error_;
    UniqueFd descriptor_;
    std::unique_ptr<Watch> watch_;  // goes before the descriptor
    Alarm failure_alarm_;           // so that the call never comes from within the constructor
};

/// What became of a connect() that had to wait: 0, or why it failed. A tcp connection to a free port of the range that
/// the system takes its own ports from may meet itself, with nobody listening: that counts as refused.
[[nodiscard]] int outcome_of_connect(int descriptor) noexcept;

}  // namespace telegate::transport
