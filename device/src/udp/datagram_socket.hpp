#pragma once

#include "core/unique_fd.hpp"

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace telegate::udp {

struct DatagramSocketOptions {
    std::string host;  // an IPv4 or IPv6 address
    std::uint16_t port = 0;
    std::string multicast_group;  // "": none
    std::size_t receive_buffer_bytes = 0;
    std::size_t datagram_bytes_max = 0;
};

struct Datagram {
    std::string_view bytes;
    std::optional<std::int64_t> utc_ns;  // time of arrival in the kernel
    bool is_cut = false;                 // truncated: longer than datagram_bytes_max
};

/// A UDP socket that reads many datagrams at a time. With a multicast group, it binds to the group, and the host is the
/// interface; datagrams to the host address are not received.
///
/// Threads: the one that reads.
/// Limits: memory for batch_max datagrams of datagram_bytes_max bytes, allocated by the first open().
/// Failure: open() and receive() return the error of the system; a socket that failed is closed.
class DatagramSocket {
  public:
    static constexpr std::size_t batch_max = 64;

    explicit DatagramSocket(DatagramSocketOptions options);
    DatagramSocket(const DatagramSocket&) = delete;  // heads_ points into slots_
    DatagramSocket& operator=(const DatagramSocket&) = delete;

    /// Opens the socket; does nothing if it is open. Returns what went wrong; "" if nothing did.
    [[nodiscard]] std::string open();
    /// Returns available datagrams without blocking, valid until the next call. `error` is an errno, 0 for none.
    [[nodiscard]] std::span<const Datagram> receive(int& error) noexcept;
    /// Drops available datagrams. Returns their number.
    std::uint64_t discard() noexcept;
    /// Returns the number of datagrams that the kernel has dropped since the last call, including drops that no later
    /// datagram has reported.
    [[nodiscard]] std::uint64_t take_drops() noexcept;

    [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
    [[nodiscard]] bool is_open() const noexcept { return descriptor_.get() >= 0; }
    /// Returns the buffer size that the kernel granted, without its overhead. port() returns the port while the socket
    /// is open.
    [[nodiscard]] std::size_t receive_buffer_bytes() const noexcept { return receive_buffer_bytes_; }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    void close() noexcept { descriptor_ = {}; }

  private:
    static constexpr std::size_t control_bytes = 128;  // capacity for a timestamp and a counter, with their headers

    struct Slot {
        alignas(cmsghdr) std::array<char, control_bytes> control;
        iovec bytes;
    };

    void prepare_slots();
    void request_buffer() noexcept;
    [[nodiscard]] bool join(int family) noexcept;
    [[nodiscard]] std::string failure(std::string_view step) const;
    void record_control(msghdr& head, Datagram& datagram) noexcept;
    void record_drops(std::uint32_t counter) noexcept;

    const DatagramSocketOptions options_;
    UniqueFd descriptor_;
    std::uint16_t port_ = 0;
    std::size_t receive_buffer_bytes_ = 0;
    std::uint32_t drops_seen_ = 0;  // last value of the kernel's drop counter of this socket, which wraps
    std::uint64_t drops_ = 0;       // not yet returned by take_drops()
    std::unique_ptr<char[]> memory_;
    std::array<Slot, batch_max> slots_{};
    std::array<mmsghdr, batch_max> heads_{};
    std::array<Datagram, batch_max> datagrams_{};
};

}  // namespace telegate::udp
