#include "latency.hpp"
#include "libzmq_link.hpp"

namespace telegate::perf {

namespace {

using libzmq::Setup;

constexpr std::uint64_t unlimited_bytes_max = 1024 * 1024 * 1024;
constexpr int one_mib = 1024 * 1024;

struct Variant {
    std::string name;
    Setup setup;
};
[[nodiscard]] std::vector<Variant> variants_with(int io_threads) {
    std::vector<Variant> variants{
        {"as reported", {}},
        {"HWM 0", {.unlimited = true}},
        {"message API", {.message_api = true}},
        {"message API, HWM 0", {.message_api = true, .unlimited = true}},
        {"message API, 1 MiB buffers", {.message_api = true, .buffer_bytes = one_mib}},
        {"two contexts", {.two_contexts = true}},
        {"two contexts, HWM 0", {.two_contexts = true, .unlimited = true}},
        {"two contexts, message API", {.two_contexts = true, .message_api = true}},
        {"two contexts, message API, HWM 0", {.two_contexts = true, .message_api = true, .unlimited = true}},
        {"two contexts, message API, 1 MiB buffers",
         {.two_contexts = true, .message_api = true, .buffer_bytes = one_mib}},
    };
    if (io_threads > 1) {
        const std::string name = std::to_string(io_threads) + " I/O threads";
        variants.push_back({name, {.io_threads = io_threads}});
        variants.push_back({"message API, " + name, {.message_api = true, .io_threads = io_threads}});
        variants.push_back({"two contexts, " + name, {.two_contexts = true, .io_threads = io_threads}});
    }
    return variants;
}

bool can_run_libzmq(const Workload& work, const Setup& setup) {
    // Without HWM, all messages must fit into memory.
    const bool fits = !setup.unlimited || work.messages <= unlimited_bytes_max / work.size / work.receivers;
    const bool needs_sockets = setup.two_contexts || setup.buffer_bytes > 0 || setup.io_threads > 1;
    // Two processes have two contexts in any case.
    const bool differs =
        !(needs_sockets && work.transport == Transport::inproc) && !(setup.two_contexts && work.two_processes);
    return is_possible(work) && fits && differs && (!work.curve || zmq_has("curve") == 1);
}

Outcome run_libzmq(const Workload& work, const Setup& setup) {
    return run_workload<libzmq::Link>(work, setup, libzmq::make_keys(work));
}

/// Receives a frame into the buffer, as in the examples of zmq_recv(). Returns the frame, or nothing after the timeout.
Bytes receive(const libzmq::Socket& socket, std::span<std::byte> buffer) {
    int received = zmq_recv(socket.get(), buffer.data(), buffer.size(), 0);
    while (received < 0 && zmq_errno() == EINTR) {
        received = zmq_recv(socket.get(), buffer.data(), buffer.size(), 0);
    }
    if (received < 0 && zmq_errno() == EAGAIN) {
        return {};
    }
    libzmq::check(received, "zmq_recv");
    if (static_cast<std::size_t>(received) > buffer.size()) {
        throw std::runtime_error("libzmq: received a longer frame than was sent");
    }
    return Bytes(buffer).first(static_cast<std::size_t>(received));
}

void send(const libzmq::Socket& socket, Bytes frame, int flags) {
    libzmq::check(zmq_send(socket.get(), frame.data(), frame.size(), flags), "zmq_send");
}

RoundTrips run_latency(const LatencyWork& work) {
    const libzmq::Context context = libzmq::make_context(1);
    libzmq::Socket router(context, ZMQ_ROUTER);
    libzmq::Socket dealer(context, ZMQ_DEALER);
    router.set(ZMQ_RCVTIMEO, static_cast<int>(stop_interval.count()));
    dealer.set(ZMQ_RCVTIMEO, static_cast<int>(reply_time_max.count()));
    router.set(ZMQ_SNDTIMEO, static_cast<int>(reply_time_max.count()));
    dealer.set(ZMQ_SNDTIMEO, static_cast<int>(reply_time_max.count()));
    router.bind(work.transport);
    dealer.connect(router.address());
    std::array<std::byte, 256> peer_buffer{};
    std::vector<std::byte> request(work.size);
    std::vector<std::byte> reply(work.size);
    const auto answer = [&] {
        const Bytes peer = receive(router, peer_buffer);
        if (!peer.empty()) {
            const Bytes payload = receive(router, request);
            send(router, peer, ZMQ_SNDMORE);
            send(router, payload, 0);
        }
    };
    const auto exchange = [&](Bytes payload) {
        send(dealer, payload, 0);
        return receive(dealer, reply);
    };
    return run_both(work.placement, answer, [&] { return time_round_trips(work, exchange); });
}

}  // namespace

std::vector<LatencyEngine> libzmq_latency() {
    return {{"libzmq", libzmq_version() + ", one context, one I/O thread, blocking zmq_send() and zmq_recv()",
             [](Transport) { return true; }, run_latency}};
}

std::vector<Engine> libzmq_engines(std::size_t io_threads) {
    std::vector<Engine> engines;
    for (const Variant& variant : variants_with(static_cast<int>(io_threads))) {
        engines.push_back({"libzmq", variant.name,
                           [setup = variant.setup](const Workload& work) { return can_run_libzmq(work, setup); },
                           [setup = variant.setup](const Workload& work) {
                               return run_libzmq(work, setup);
                           }});
    }
    return engines;
}

std::string libzmq_version() {
    int major = 0;
    int minor = 0;
    int patch = 0;
    zmq_version(&major, &minor, &patch);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace telegate::perf
