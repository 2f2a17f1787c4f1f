#pragma once

#include "core/endpoint.hpp"
#include "core/unique_fd.hpp"

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

namespace telegate::perf {

/// Throws std::system_error: `what` is the call that has failed just now.
[[noreturn]] inline void fail_raw(const char* what) {
    throw std::system_error(errno, std::generic_category(), std::string("raw: ") + what);
}

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
    void accept_some(std::vector<UniqueFd>& connections);

  private:
    const Transport transport_;
    const int buffer_bytes_;
    UniqueFd socket_;
};

/// Connects and names its place. `buffer_bytes` for receiving.
[[nodiscard]] UniqueFd raw_connect(Transport transport, const std::string& address, int buffer_bytes,
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
