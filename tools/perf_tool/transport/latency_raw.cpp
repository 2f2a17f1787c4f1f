#include "../checked.hpp"
#include "core/unique_fd.hpp"
#include "ping_pong.hpp"
#include "raw_socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

/// One end of a connection: non-blocking, waited for with epoll, moving frames of one size with the header of ZMTP.
class End {
  public:
    End(UniqueFd socket, std::size_t payload_bytes)
        : socket_(std::move(socket)),
          epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "raw: epoll_create1")),
          header_bytes_(payload_bytes < 256 ? 2 : 9),
          outgoing_(header_bytes_ + payload_bytes),
          incoming_(outgoing_.size()) {
        const int flags = ::fcntl(socket_.get(), F_GETFL);
        if (flags < 0 || ::fcntl(socket_.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
            fail_raw("O_NONBLOCK");
        }
        epoll_event event{};
        event.events = EPOLLIN;
        if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket_.get(), &event) != 0) {
            fail_raw("epoll_ctl");
        }
        outgoing_[0] = static_cast<std::byte>(header_bytes_ == 2 ? 0 : 2);
        for (std::size_t index = 1; index < header_bytes_; ++index) {
            const std::size_t shift = 8 * (header_bytes_ - 1 - index);
            outgoing_[index] = static_cast<std::byte>((payload_bytes >> shift) & 0xFF);
        }
    }

    void write(Bytes payload) {
        std::memcpy(outgoing_.data() + header_bytes_, payload.data(), payload.size());
        for (Bytes rest(outgoing_); !rest.empty();) {
            const ssize_t written = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
            if (written >= 0) {
                rest = rest.subspan(static_cast<std::size_t>(written));
            } else if (errno == EAGAIN) {
                wait_for_room();
            } else if (errno != EINTR) {
                fail_raw("send");
            }
        }
    }

    /// The payload of the next frame; nothing when none begins in time.
    [[nodiscard]] Bytes read(std::chrono::milliseconds time) {
        for (std::size_t have = 0; have < incoming_.size();) {
            epoll_event event{};
            const int ready = ::epoll_wait(epoll_.get(), &event, 1, static_cast<int>(time.count()));
            if (ready == 0 && have == 0) {
                return {};
            }
            if (ready == 0) {
                throw std::runtime_error("raw: a frame came in part");
            }
            const ssize_t count =
                ready < 0 ? -1 : ::recv(socket_.get(), incoming_.data() + have, incoming_.size() - have, 0);
            if (count == 0) {
                throw std::runtime_error("raw: the connection was closed");
            }
            if (count < 0 && errno != EAGAIN && errno != EINTR) {
                fail_raw("recv");
            }
            have += count < 0 ? 0 : static_cast<std::size_t>(count);
            time = answer_time_max;
        }
        if (std::memcmp(incoming_.data(), outgoing_.data(), header_bytes_) != 0) {
            throw std::runtime_error("raw: a frame has another header");
        }
        return Bytes(incoming_).subspan(header_bytes_);
    }

  private:
    void wait_for_room() {
        pollfd descriptor{socket_.get(), POLLOUT, 0};
        if (::poll(&descriptor, 1, static_cast<int>(answer_time_max.count())) == 0) {
            throw std::runtime_error("raw: nothing was read for ten seconds");
        }
    }

    UniqueFd socket_;
    UniqueFd epoll_;
    std::size_t header_bytes_;
    std::vector<std::byte> outgoing_;  // the header of all, then the payload of one
    std::vector<std::byte> incoming_;
};

using SocketPair = std::pair<UniqueFd, UniqueFd>;

void send_at_once(const UniqueFd& socket) {
    const int on = 1;
    if (::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
        fail_raw("TCP_NODELAY");
    }
}

SocketPair tcp_pair() {
    const UniqueFd listener(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "raw: socket"));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener.get(), generic, size) != 0 || ::listen(listener.get(), 1) != 0 ||
        ::getsockname(listener.get(), generic, &size) != 0) {
        fail_raw("listen");
    }
    UniqueFd ours(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "raw: socket"));
    if (::connect(ours.get(), generic, size) != 0) {  // within loopback, there at once
        fail_raw("connect");
    }
    UniqueFd theirs(checked(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), "raw: accept4"));
    send_at_once(ours);
    send_at_once(theirs);
    return {std::move(ours), std::move(theirs)};
}

SocketPair unix_pair() {
    int numbers[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers) != 0) {
        fail_raw("socketpair");
    }
    return {UniqueFd(numbers[0]), UniqueFd(numbers[1])};
}

RoundTrips run_raw_latency(const LatencyWork& work) {
    SocketPair pair = work.transport == Transport::tcp ? tcp_pair() : unix_pair();
    End dealer(std::move(pair.first), work.size);
    End router(std::move(pair.second), work.size);
    const auto answer = [&router] {
        const Bytes payload = router.read(stop_interval);
        if (!payload.empty()) {
            router.write(payload);
        }
    };
    const auto exchange = [&dealer](Bytes payload) {
        dealer.write(payload);
        const Bytes answered = dealer.read(answer_time_max);
        if (answered.empty()) {
            throw std::runtime_error("raw: no answer within ten seconds");
        }
        return answered;
    };
    return run_both(work.placement, answer, [&] { return time_round_trips(work, exchange); });
}

std::string raw_setup() {
    return "the same kind of connection, non-blocking, epoll_wait() on both sides";
}

bool has_sockets(Transport transport) {
    return transport != Transport::inproc;
}

}  // namespace

LatencyEngine raw_latency() {
    return {"raw", raw_setup, has_sockets, run_raw_latency};
}

}  // namespace telegate::perf
