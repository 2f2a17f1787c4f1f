#pragma once

#include <functional>
#include <string>
#include <thread>

namespace telegate::test {

/// A local socket on a port that was free. With a backlog it listens, and connections stay unaccepted. Without a
/// backlog, it refuses connections.
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

/// Serves one end of a conversation until it is destroyed. Threads: its own thread calls `serve` while there is
/// something to read; all other members are for the test's thread.
class PeerThread {
  public:
    /// Returns whether the connection stays open.
    using Serve = std::function<bool(int descriptor)>;

    PeerThread() = default;
    ~PeerThread() { stop(); }
    PeerThread(const PeerThread&) = delete;
    PeerThread& operator=(const PeerThread&) = delete;

    /// Serves one connection after another. Calls `begin` for each new one.
    void accept_on(int listener, Serve begin, Serve serve);
    /// Serves a serial line whose near end may or may not be open.
    void serve_line(int descriptor, Serve serve);
    void stop();

  private:
    void serve_until_end(int descriptor, const Serve& serve);

    CancelSignal stop_;
    std::thread thread_;
};

}  // namespace telegate::test
