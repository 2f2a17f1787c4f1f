#include "latency.hpp"

#include "core/dealer.hpp"
#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/router.hpp"
#include "zmtp/frame.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>

#include <utility>

namespace telegate::perf {

namespace {

Bytes only_frame_of(const MessageBatch& batch) {
    if (batch.size() != 1 || batch[0].size() != 1) {
        throw std::runtime_error("received more than one frame");
    }
    return batch[0][0];
}

RoundTrips run_telegate(const LatencyWork& work) {
    Reactor router_reactor;
    Router router(router_reactor, {});
    Reactor dealer_reactor;
    Dealer dealer(dealer_reactor, {});
    dealer.connect(router.bind(endpoint_over(work.transport)));
    MessageBatch requests;
    MessageBatch replies;
    const auto answer = [&] {
        if (!router.receive_for(requests, stop_interval)) {
            return;
        }
        const Bytes frame = only_frame_of(requests);
        if (router.send(requests.peer(), std::span(&frame, 1)) != SendStatus::sent) {
            throw std::runtime_error("cannot send a reply");
        }
        router.flush();
    };
    const auto exchange = [&](Bytes payload) {
        if (dealer.send(std::span(&payload, 1)) != SendStatus::sent) {
            throw std::runtime_error("cannot send a request");
        }
        dealer.flush();
        return dealer.receive_for(replies, reply_time_max) ? only_frame_of(replies) : Bytes();
    };
    return run_both(work.placement, answer, [&] { return time_round_trips(work, exchange); });
}

/// One end of a non-blocking connection that waits with epoll. Frames have one size and the header of ZMTP.
class End {
  public:
    End(UniqueFd socket, std::size_t payload_bytes)
        : socket_(std::move(socket)),
          epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "raw: epoll_create1")),
          header_bytes_(zmtp::frame_header_bytes(payload_bytes)),
          outgoing_(zmtp::frame_header_bytes_max + payload_bytes) {
        const int flags = checked(::fcntl(socket_.get(), F_GETFL), "raw: F_GETFL");
        checked(::fcntl(socket_.get(), F_SETFL, flags | O_NONBLOCK), "raw: O_NONBLOCK");
        epoll_event event{};
        event.events = EPOLLIN;
        checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket_.get(), &event), "raw: epoll_ctl");
        zmtp::write_frame_header(outgoing_.data(), 0, payload_bytes);
        outgoing_.resize(header_bytes_ + payload_bytes);
        incoming_.resize(outgoing_.size());
    }

    void write(Bytes payload) {
        std::memcpy(outgoing_.data() + header_bytes_, payload.data(), payload.size());
        for (Bytes rest(outgoing_); !rest.empty();) {
            const ssize_t written = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
            if (written >= 0) {
                rest = rest.subspan(static_cast<std::size_t>(written));
            } else if (errno == EAGAIN) {
                wait_until_writable();
            } else if (errno != EINTR) {
                throw std::system_error(errno, std::generic_category(), "raw: send");
            }
        }
    }

    /// Returns the payload of the next frame, or nothing if none begins in time.
    [[nodiscard]] Bytes read(std::chrono::milliseconds time) {
        for (std::size_t have = 0; have < incoming_.size();) {
            epoll_event event{};
            const int ready = ::epoll_wait(epoll_.get(), &event, 1, static_cast<int>(time.count()));
            if (ready == 0 && have == 0) {
                return {};
            }
            if (ready == 0) {
                throw std::runtime_error("raw: received an incomplete frame");
            }
            const ssize_t count =
                ready < 0 ? -1 : ::recv(socket_.get(), incoming_.data() + have, incoming_.size() - have, 0);
            if (count == 0) {
                throw std::runtime_error("raw: the connection was closed");
            }
            if (count < 0 && errno != EAGAIN && errno != EINTR) {
                throw std::system_error(errno, std::generic_category(), "raw: recv");
            }
            have += count < 0 ? 0 : static_cast<std::size_t>(count);
            time = reply_time_max;
        }
        if (std::memcmp(incoming_.data(), outgoing_.data(), header_bytes_) != 0) {
            throw std::runtime_error("raw: a frame has the wrong header");
        }
        return Bytes(incoming_).subspan(header_bytes_);
    }

  private:
    void wait_until_writable() const {
        pollfd descriptor{socket_.get(), POLLOUT, 0};
        if (::poll(&descriptor, 1, static_cast<int>(reply_time_max.count())) == 0) {
            throw std::runtime_error("raw: nothing was read for ten seconds");
        }
    }

    UniqueFd socket_;
    UniqueFd epoll_;
    std::size_t header_bytes_;
    std::vector<std::byte> outgoing_;  // with the header
    std::vector<std::byte> incoming_;
};

[[nodiscard]] std::pair<UniqueFd, UniqueFd> connected_pair(Transport transport) {
    if (transport == Transport::ipc) {
        int numbers[2] = {-1, -1};
        checked(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers), "raw: socketpair");
        return {UniqueFd(numbers[0]), UniqueFd(numbers[1])};
    }
    const LoopbackListener listener;
    UniqueFd ours = connect_to_loopback(listener.port);
    UniqueFd theirs(checked(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC), "raw: accept4"));
    set_socket_option(theirs.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    return {std::move(ours), std::move(theirs)};
}

RoundTrips run_raw(const LatencyWork& work) {
    auto [ours, theirs] = connected_pair(work.transport);
    End dealer(std::move(ours), work.size);
    End router(std::move(theirs), work.size);
    const auto answer = [&router] {
        const Bytes payload = router.read(stop_interval);
        if (!payload.empty()) {
            router.write(payload);
        }
    };
    const auto exchange = [&dealer](Bytes payload) {
        dealer.write(payload);
        return dealer.read(reply_time_max);
    };
    return run_both(work.placement, answer, [&] { return time_round_trips(work, exchange); });
}

}  // namespace

LatencyEngine telegate_latency() {
    return {"telegate", "a Dealer and a Router, a Reactor in each thread, receive_for()",
            [](Transport) { return true; }, run_telegate};
}

LatencyEngine raw_latency() {
    return {"raw", "the same kind of connection, non-blocking, epoll_wait() on both sides",
            [](Transport transport) { return transport != Transport::inproc; }, run_raw};
}

}  // namespace telegate::perf
