#pragma once

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
    std::optional<std::int64_t> utc_ns;  // when the kernel had it
    bool is_cut = false;                 // it was longer than datagram_bytes_max
};

/// A UDP socket that is read many datagrams at a time. A group of multicast is bound to in place of the host, which is
/// then the interface: what is sent to the host itself does not come.
///
/// Threads: the one that reads.
/// Limits:  batch_max datagrams of datagram_bytes_max bytes are in memory, which is taken by the first open().
/// Failure: open() and receive() answer with what the system said; a socket that failed is closed.
class DatagramSocket {
  public:
    static constexpr std::size_t batch_max = 64;

    explicit DatagramSocket(DatagramSocketOptions options);
    ~DatagramSocket();
    DatagramSocket(const DatagramSocket&) = delete;
    DatagramSocket& operator=(const DatagramSocket&) = delete;

    /// Does nothing while it is open. Returns what went wrong, "" for nothing.
    [[nodiscard]] std::string open();
    /// What has come, without waiting; valid until the next call. `error` is an errno, 0 for none.
    [[nodiscard]] std::span<const Datagram> receive(int& error) noexcept;
    /// Throws away what has come. How many datagrams it was.
    std::uint64_t discard() noexcept;
    /// Datagrams that the kernel had to drop since the last call, those among it that no later datagram has told of.
    [[nodiscard]] std::uint64_t take_drops() noexcept;

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
    /// What the kernel gives, without what it needs for itself; and the port, while it is open.
    [[nodiscard]] std::size_t receive_buffer_bytes() const noexcept { return receive_buffer_bytes_; }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    void close() noexcept;

  private:
    static constexpr std::size_t control_bytes = 128;  // room for a time and a count, with their heads

    struct Slot {
        alignas(cmsghdr) std::array<char, control_bytes> control;
        iovec bytes;
    };

    void prepare_slots();
    void ask_for_buffer() noexcept;
    [[nodiscard]] bool join(int family) noexcept;
    [[nodiscard]] std::string failure(std::string_view step) const;
    void note_control(msghdr& head, Datagram& datagram) noexcept;
    void note_drops(std::uint32_t counter) noexcept;

    const DatagramSocketOptions options_;
    int descriptor_ = -1;
    std::uint16_t port_ = 0;
    std::size_t receive_buffer_bytes_ = 0;
    std::uint32_t drops_seen_ = 0;  // the kernel's counter of this socket, which wraps
    std::uint64_t drops_ = 0;       // not taken yet
    std::unique_ptr<char[]> memory_;
    std::array<Slot, batch_max> slots_{};
    std::array<mmsghdr, batch_max> heads_{};
    std::array<Datagram, batch_max> datagrams_{};
};

}  // namespace telegate::udp
