#pragma once

#include "device/cancel_signal.hpp"

#include <functional>
#include <string>
#include <thread>

namespace telegate::test {

/// A socket of this machine, on a port that was free. With a backlog it listens, and takes connections that nobody
/// accepts; without, it refuses them.
class Listener {
  public:
    explicit Listener(int backlog = 8);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    [[nodiscard]] int descriptor() const noexcept { return socket_; }
    [[nodiscard]] int port() const noexcept { return port_; }
    [[nodiscard]] std::string endpoint() const { return "tcp://127.0.0.1:" + std::to_string(port_); }

  private:
    int socket_ = -1;
    int port_ = 0;
};

/// Runs one end of a conversation until it is destroyed.
/// Threads: its own calls `serve` while there is something to read; the rest on the test's.
class PeerThread {
  public:
    /// Returns whether the connection stays.
    using Serve = std::function<bool(int descriptor)>;

    PeerThread() = default;
    ~PeerThread() { stop(); }
    PeerThread(const PeerThread&) = delete;
    PeerThread& operator=(const PeerThread&) = delete;

    /// One connection after another. `begin` is told each new one.
    void accept_on(int listener, Serve begin, Serve serve);
    /// A line, whose near end may be open or not.
    void serve_line(int descriptor, Serve serve);
    void stop();

  private:
    void serve_until_end(int descriptor, const Serve& serve);

    CancelSignal stop_;
    std::thread thread_;
};

}  // namespace telegate::test
