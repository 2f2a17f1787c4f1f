#include "udp/datagram_socket.hpp"

#include <arpa/inet.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

namespace telegate::udp {
namespace {

struct Address {
    sockaddr_storage storage{};
    socklen_t bytes = 0;

    [[nodiscard]] const sockaddr* raw() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
};

template <class Raw>
Raw raw_as(const sockaddr_storage& storage) noexcept {
    Raw raw{};
    std::memcpy(&raw, &storage, sizeof(raw));
    return raw;
}

std::optional<Address> to_address(const std::string& host, std::uint16_t port) noexcept {
    Address address;
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(port);
        std::memcpy(&address.storage, &v4, sizeof(v4));
        address.bytes = sizeof(v4);
    } else if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(port);
        std::memcpy(&address.storage, &v6, sizeof(v6));
        address.bytes = sizeof(v6);
    } else {
        return std::nullopt;
    }
    return address;
}

bool set_option(int descriptor, int level, int name, int value) noexcept {
    return ::setsockopt(descriptor, level, name, &value, sizeof(value)) == 0;
}

std::uint16_t port_of(int descriptor) noexcept {
    sockaddr_storage storage{};
    socklen_t bytes = sizeof(storage);
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&storage), &bytes) != 0) {
        return 0;
    }
    return ntohs(storage.ss_family == AF_INET6 ? raw_as<sockaddr_in6>(storage).sin6_port
                                               : raw_as<sockaddr_in>(storage).sin_port);
}

}  // namespace

DatagramSocket::DatagramSocket(DatagramSocketOptions options) : options_(std::move(options)) {}

std::string DatagramSocket::open() {
    if (is_open()) {
        return {};
    }
    prepare_slots();
    const bool has_group = !options_.multicast_group.empty();
    const auto address = to_address(has_group ? options_.multicast_group : options_.host, options_.port);
    if (!address) {
        return options_.host + ": not an address";
    }
    const int family = address->storage.ss_family;
    descriptor_ = UniqueFd(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!is_open()) {
        return failure("socket");
    }
    const bool is_ready = set_option(descriptor_.get(), SOL_SOCKET, SO_RXQ_OVFL, 1) &&
                          set_option(descriptor_.get(), SOL_SOCKET, SO_TIMESTAMPNS, 1) &&
                          // Allows other receivers of the same group.
                          (!has_group || set_option(descriptor_.get(), SOL_SOCKET, SO_REUSEADDR, 1));
    std::string fault;
    if (!is_ready) {
        fault = failure("setsockopt");
    } else if (request_buffer(); ::bind(descriptor_.get(), address->raw(), address->bytes) != 0) {
        fault = failure("bind");
    } else if (has_group && !join(family)) {
        fault = failure("join " + options_.multicast_group);
    }
    if (!fault.empty()) {
        close();
        return fault;
    }
    port_ = port_of(descriptor_.get());
    drops_seen_ = 0;
    return {};
}

void DatagramSocket::prepare_slots() {
    if (memory_ != nullptr) {
        return;
    }
    memory_ = std::make_unique_for_overwrite<char[]>(batch_max * options_.datagram_bytes_max);
    for (std::size_t index = 0; index < batch_max; ++index) {
        Slot& slot = slots_[index];
        slot.bytes = {memory_.get() + index * options_.datagram_bytes_max, options_.datagram_bytes_max};
        heads_[index].msg_hdr.msg_iov = &slot.bytes;
        heads_[index].msg_hdr.msg_iovlen = 1;
        heads_[index].msg_hdr.msg_control = slot.control.data();
    }
}

/// The kernel grants at most net.core.rmem_max, or the requested size with CAP_NET_ADMIN. It reports twice the size
/// because of its own overhead.
void DatagramSocket::request_buffer() noexcept {
    const int asked = static_cast<int>(options_.receive_buffer_bytes);
    const auto given = [this] {
        int bytes = 0;
        socklen_t size = sizeof(bytes);
        return ::getsockopt(descriptor_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, &size) == 0 ? bytes / 2 : 0;
    };
    (void)set_option(descriptor_.get(), SOL_SOCKET, SO_RCVBUF, asked);
    if (given() < asked) {
        (void)set_option(descriptor_.get(), SOL_SOCKET, SO_RCVBUFFORCE, asked);
    }
    receive_buffer_bytes_ = static_cast<std::size_t>(std::max(given(), 0));
}

bool DatagramSocket::join(int family) noexcept {
    if (family == AF_INET) {
        ip_mreqn request{};
        (void)::inet_pton(AF_INET, options_.multicast_group.c_str(), &request.imr_multiaddr);
        (void)::inet_pton(AF_INET, options_.host.c_str(), &request.imr_address);
        return ::setsockopt(descriptor_.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof(request)) == 0;
    }
    ipv6_mreq request{};  // interface 0: chosen by the routing table
    (void)::inet_pton(AF_INET6, options_.multicast_group.c_str(), &request.ipv6mr_multiaddr);
    return ::setsockopt(descriptor_.get(), IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof(request)) == 0;
}

std::string DatagramSocket::failure(std::string_view step) const {
    const int error = errno;
    const bool is_v6 = options_.host.find(':') != std::string::npos;
    std::string text = (is_v6 ? '[' + options_.host + ']' : options_.host) + ':' + std::to_string(options_.port) + ": ";
    text.append(step);
    return text + ": " + std::system_category().message(error);
}

std::span<const Datagram> DatagramSocket::receive(int& error) noexcept {
    for (mmsghdr& head : heads_) {
        head.msg_hdr.msg_controllen = control_bytes;
        head.msg_hdr.msg_flags = 0;
    }
    const int got = ::recvmmsg(descriptor_.get(), heads_.data(), batch_max, MSG_DONTWAIT, nullptr);
    error = got < 0 && errno != EAGAIN && errno != EINTR ? errno : 0;
    const auto count = static_cast<std::size_t>(std::max(got, 0));
    for (std::size_t index = 0; index < count; ++index) {
        mmsghdr& head = heads_[index];
        datagrams_[index] = {.bytes = {static_cast<const char*>(slots_[index].bytes.iov_base), head.msg_len},
                             .utc_ns = {},
                             .is_cut = (head.msg_hdr.msg_flags & MSG_TRUNC) != 0};
        record_control(head.msg_hdr, datagrams_[index]);
    }
    return {datagrams_.data(), count};
}

std::uint64_t DatagramSocket::discard() noexcept {
    constexpr std::uint64_t most = 1'000'000;  // more than a buffer holds; an endless sender must not block this loop
    std::uint64_t count = 0;
    for (int error = 0; count < most;) {
        const std::size_t some = receive(error).size();
        if (some == 0) {
            break;
        }
        count += some;
    }
    return count;
}

void DatagramSocket::record_control(msghdr& head, Datagram& datagram) noexcept {
    constexpr std::int64_t second_ns = 1'000'000'000;
    for (cmsghdr* part = CMSG_FIRSTHDR(&head); part != nullptr; part = CMSG_NXTHDR(&head, part)) {
        if (part->cmsg_level != SOL_SOCKET) {
            continue;
        }
        if (part->cmsg_type == SCM_TIMESTAMPNS && part->cmsg_len >= CMSG_LEN(sizeof(timespec))) {
            timespec time{};
            std::memcpy(&time, CMSG_DATA(part), sizeof(time));
            datagram.utc_ns = time.tv_sec * second_ns + time.tv_nsec;
        } else if (part->cmsg_type == SO_RXQ_OVFL && part->cmsg_len >= CMSG_LEN(sizeof(std::uint32_t))) {
            std::uint32_t counter = 0;
            std::memcpy(&counter, CMSG_DATA(part), sizeof(counter));
            record_drops(counter);
        }
    }
}

/// The counter dates from when a datagram was queued and may be older than the last one seen. Only a counter that is
/// ahead, by less than half of its range, is new.
void DatagramSocket::record_drops(std::uint32_t counter) noexcept {
    const std::uint32_t more = counter - drops_seen_;
    if (more != 0 && more < 0x8000'0000U) {
        drops_ += more;
        drops_seen_ = counter;
    }
}

std::uint64_t DatagramSocket::take_drops() noexcept {
    std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
    socklen_t bytes = sizeof(memory);
    if (is_open() && ::getsockopt(descriptor_.get(), SOL_SOCKET, SO_MEMINFO, memory.data(), &bytes) == 0 &&
        bytes > SK_MEMINFO_DROPS * sizeof(std::uint32_t)) {
        record_drops(memory[SK_MEMINFO_DROPS]);
    }
    return std::exchange(drops_, 0);
}

}  // namespace telegate::udp
