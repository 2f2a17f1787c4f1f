#pragma once

#include "core/endpoint.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace telegate::perf {

/// A descriptor that is closed when it goes.
/// Threads: one. Limits: one descriptor. Failure: none.
class Descriptor {
  public:
    explicit Descriptor(int number = -1) noexcept : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor();
    [[nodiscard]] int get() const noexcept { return number_; }

  private:
    int number_;
};

/// Blocking stream sockets on this machine: tcp over loopback with TCP_NODELAY, or Unix in place of ipc.
/// Threads: one each. Limits: none.
/// Failure: std::system_error; read_some() and write_all() give up with std::runtime_error where nothing moves.
class RawListener {
  public:
    /// `buffer_bytes` for sending of each connection; 0 leaves the system's.
    RawListener(Transport transport, int buffer_bytes);
    /// For RawConnection.
    [[nodiscard]] std::string address() const;
    /// The connections that have come so far, each at the place that it has named.
    void accept_some(std::vector<Descriptor>& connections);

  private:
    const Transport transport_;
    const int buffer_bytes_;
    Descriptor socket_;
};

/// Connects and names its place. `buffer_bytes` for receiving.
[[nodiscard]] Descriptor raw_connect(Transport transport, const std::string& address, int buffer_bytes,
                                     std::size_t place);

/// What the kernel gives of the buffers that are asked for. Only the sender's counts between Unix sockets.
struct GivenBuffers {
    std::size_t send = 0;
    std::size_t receive = 0;
};
[[nodiscard]] GivenBuffers given_buffers(Transport transport, int buffer_bytes);

/// Bytes read; 0 when nothing came within receive_wait.
[[nodiscard]] std::size_t read_some(int socket, char* data, std::size_t bytes_max);
void write_all(int socket, const char* data, std::size_t bytes);

}  // namespace telegate::perf
