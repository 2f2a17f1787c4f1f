#include "endpoint_text.hpp"
#include "engine.hpp"
#include "ping_pong.hpp"

#include <zmq.h>

#include <array>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace telegate::perf {

namespace {

[[noreturn]] void fail_libzmq(const char* what) {
    throw std::runtime_error(std::string("libzmq: ") + what + ": " + zmq_strerror(zmq_errno()));
}

void check_libzmq(int result, const char* what) {
    if (result < 0) {
        fail_libzmq(what);
    }
}

using Context = std::unique_ptr<void, int (*)(void*)>;
using Socket = std::unique_ptr<void, int (*)(void*)>;

Socket make_socket(const Context& context, int type, std::chrono::milliseconds receive_time) {
    Socket socket(zmq_socket(context.get(), type), zmq_close);
    if (!socket) {
        fail_libzmq("zmq_socket");
    }
    const int linger = 0;
    const auto receive_ms = static_cast<int>(receive_time.count());
    const auto send_ms = static_cast<int>(answer_time_max.count());
    check_libzmq(zmq_setsockopt(socket.get(), ZMQ_LINGER, &linger, sizeof linger), "ZMQ_LINGER");
    check_libzmq(zmq_setsockopt(socket.get(), ZMQ_RCVTIMEO, &receive_ms, sizeof receive_ms), "ZMQ_RCVTIMEO");
    check_libzmq(zmq_setsockopt(socket.get(), ZMQ_SNDTIMEO, &send_ms, sizeof send_ms), "ZMQ_SNDTIMEO");
    return socket;
}

void join(const Socket& router, const Socket& dealer, Transport transport) {
    check_libzmq(zmq_bind(router.get(), endpoint_text(transport)), "zmq_bind");
    std::array<char, 512> endpoint{};
    std::size_t size = endpoint.size();
    check_libzmq(zmq_getsockopt(router.get(), ZMQ_LAST_ENDPOINT, endpoint.data(), &size), "ZMQ_LAST_ENDPOINT");
    check_libzmq(zmq_connect(dealer.get(), endpoint.data()), "zmq_connect");
}

/// Into the caller's buffer, as in zmq_recv's own examples. False when nothing came in time.
bool receive(const Socket& socket, std::span<std::byte> buffer, std::size_t& size) {
    int received = zmq_recv(socket.get(), buffer.data(), buffer.size(), 0);
    while (received < 0 && zmq_errno() == EINTR) {
        received = zmq_recv(socket.get(), buffer.data(), buffer.size(), 0);
    }
    if (received < 0 && zmq_errno() == EAGAIN) {
        return false;
    }
    check_libzmq(received, "zmq_recv");
    size = static_cast<std::size_t>(received);
    if (size > buffer.size()) {
        throw std::runtime_error("libzmq: a frame is longer than what was sent");
    }
    return true;
}

class Answering {
  public:
    Answering(const Socket& router, std::size_t size) : router_(router), payload_(size) {}

    void operator()() {
        std::size_t peer_size = 0;
        std::size_t size = 0;
        if (!receive(router_, peer_, peer_size)) {
            return;
        }
        if (!receive(router_, payload_, size)) {
            throw std::runtime_error("libzmq: a message came in part");
        }
        check_libzmq(zmq_send(router_.get(), peer_.data(), peer_size, ZMQ_SNDMORE), "zmq_send");
        check_libzmq(zmq_send(router_.get(), payload_.data(), size, 0), "zmq_send");
    }

  private:
    const Socket& router_;
    std::array<std::byte, 256> peer_{};
    std::vector<std::byte> payload_;
};

RoundTrips run_libzmq_latency(const LatencyWork& work) {
    const Context context(zmq_ctx_new(), zmq_ctx_term);
    if (!context) {
        fail_libzmq("zmq_ctx_new");
    }
    const Socket router = make_socket(context, ZMQ_ROUTER, stop_interval);
    const Socket dealer = make_socket(context, ZMQ_DEALER, answer_time_max);
    join(router, dealer, work.transport);
    std::vector<std::byte> answer(work.size);
    const auto exchange = [&](Bytes payload) {
        check_libzmq(zmq_send(dealer.get(), payload.data(), payload.size(), 0), "zmq_send");
        std::size_t size = 0;
        if (!receive(dealer, answer, size)) {
            throw std::runtime_error("libzmq: no answer within ten seconds");
        }
        return Bytes(answer).first(size);
    };
    return run_both(work.placement, Answering(router, work.size), [&] { return time_round_trips(work, exchange); });
}

std::string libzmq_setup() {
    return libzmq_version() + ", one context, one I/O thread, blocking zmq_send() and zmq_recv()";
}

constexpr std::array<LatencyEngine, 1> latency_engines{{{"libzmq", libzmq_setup, any_transport, run_libzmq_latency}}};

}  // namespace

std::span<const LatencyEngine> libzmq_latency() {
    return latency_engines;
}

}  // namespace telegate::perf
