#include "command.hpp"
#include "round_trips.hpp"
#include "transport/raw_link.hpp"
#include "transport_command.hpp"
#ifdef TELEGATE_LIBZMQ
#include "transport/libzmq_link.hpp"
#endif

#include "core/dealer.hpp"
#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/router.hpp"

#include <sys/epoll.h>

namespace telegate::perf {

namespace {

constexpr std::uint64_t round_trips_max = 10'000'000;  // per run: 80 MB of times
constexpr std::array<std::pair<const char*, double>, 5> percentiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1.0}}};

struct LatencyOptions {
    std::vector<std::string> transports{"tcp", "ipc"};
    std::vector<std::string> engines{"telegate", "libzmq", "raw"};
    std::size_t size = 64;
    double seconds = 1;          // per engine and run
    std::uint64_t messages = 0;  // instead of the seconds, if not 0
    std::string placement = "apart";
};

Bytes only_frame_of(const MessageBatch& batch) {
    if (batch.size() != 1 || batch[0].size() != 1) {
        throw std::runtime_error("received more than one frame");
    }
    return batch[0][0];
}

RoundTrips run_with_telegate(const LatencyWork& work) {
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
    return run_both(work.processors, answer, [&] { return time_round_trips(work, exchange); });
}

#ifdef TELEGATE_LIBZMQ
/// Receives a frame into the buffer, as in the examples of zmq_recv(). Returns the frame, or nothing after the timeout.
Bytes receive(const libzmq::Socket& socket, std::span<std::byte> buffer) {
    const int received = zmq_recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (received < 0 && (zmq_errno() == EAGAIN || zmq_errno() == EINTR)) {
        return {};
    }
    libzmq::check(received, "zmq_recv");
    return Bytes(buffer).first(std::min(static_cast<std::size_t>(received), buffer.size()));
}

void send(const libzmq::Socket& socket, Bytes frame, int flags) {
    libzmq::check(zmq_send(socket.get(), frame.data(), frame.size(), flags), "zmq_send");
}

RoundTrips run_with_libzmq(const LatencyWork& work) {
    const libzmq::Context context = libzmq::make_context(1);
    libzmq::Socket router(context, ZMQ_ROUTER);
    libzmq::Socket dealer(context, ZMQ_DEALER);
    router.set(ZMQ_RCVTIMEO, stop_interval);
    dealer.set(ZMQ_RCVTIMEO, reply_time_max);
    router.set(ZMQ_SNDTIMEO, reply_time_max);
    dealer.set(ZMQ_SNDTIMEO, reply_time_max);
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
    return run_both(work.processors, answer, [&] { return time_round_trips(work, exchange); });
}
#endif

/// One end of a connection that waits with epoll for payloads of one size.
/// Threads: one. Limits: one payload. Failure: throws std::exception.
class RawEnd {
  public:
    RawEnd(UniqueFd socket, std::size_t bytes)
        : socket_(std::move(socket)),
          epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "raw: epoll_create1")),
          incoming_(bytes) {
        raw::set_time(socket_, SO_SNDTIMEO, reply_time_max);
        epoll_event event{};
        event.events = EPOLLIN;
        checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket_.get(), &event), "raw: epoll_ctl");
    }
    void write(Bytes payload) const { raw::write_all(socket_, payload); }
    /// Returns the next payload, or nothing if none begins in time.
    [[nodiscard]] Bytes read(std::chrono::milliseconds time) {
        for (std::size_t have = 0; have < incoming_.size();) {
            epoll_event event{};
            if (::epoll_wait(epoll_.get(), &event, 1, static_cast<int>(time.count())) == 0) {
                return {};
            }
            have += raw::read_some(socket_, incoming_.data() + have, incoming_.size() - have, MSG_DONTWAIT);
            time = reply_time_max;
        }
        return incoming_;
    }

  private:
    const UniqueFd socket_;
    const UniqueFd epoll_;
    std::vector<std::byte> incoming_;
};

RoundTrips run_raw(const LatencyWork& work) {
    const LocalListener listener(raw::family_of(work.transport));
    RawEnd dealer(connect_to(listener.address), work.size);
    RawEnd router(listener.accept(), work.size);
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
    return run_both(work.processors, answer, [&] { return time_round_trips(work, exchange); });
}

void add_run(Report& report, const std::string& title, const std::string& engine, RoundTrips trips) {
    for (const auto& [name, share] : percentiles) {
        report.add(title + ", microseconds", std::string(name) + ": " + engine,
                   static_cast<double>(quantile(trips.ns, share)) / 1'000);
    }
    report.add(title + ", CPU ns per round trip, all threads", engine, trips.cpu_ns);
}

using Run = RoundTrips (*)(const LatencyWork& work);

std::vector<std::pair<std::string, Run>> engines_for(const LatencyOptions& options, Transport transport) {
    std::vector<std::pair<std::string, Run>> engines{{"telegate", run_with_telegate}};
#ifdef TELEGATE_LIBZMQ
    engines.emplace_back("libzmq", run_with_libzmq);
#endif
    if (!stays_in_process(transport)) {
        engines.emplace_back("raw", run_raw);
    }
    std::erase_if(engines, [&](const auto& engine) { return !contains(options.engines, engine.first); });
    return engines;
}

Plan plan(const LatencyOptions& options, Report& report) {
    LatencyWork work;
    work.size = options.size;
    work.processors = options.placement == "apart" ? two_processors() : std::nullopt;
    work.round_trips = options.messages == 0 ? round_trips_max : options.messages;
    if (options.messages == 0) {
        work.time =
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.seconds));
    }
    report.parameters.emplace_back(
        "threads", work.processors ? "pinned to two processors; those of libzmq are not" : "not pinned");
    Plan groups;
    for (const std::string& transport : options.transports) {
        work.transport = transport_of(transport);
        Group group{"DEALER-ROUTER " + transport};
        for (const auto& engine : engines_for(options, work.transport)) {
            group.engines.push_back({engine.first, [=, title = group.title, &report] {
                                         add_run(report, title, engine.first, engine.second(work));
                                     }});
        }
        group.finish = [title = group.title, &report] {
            for (const auto& percentile : percentiles) {
                add_comparisons(report, title, "microseconds", percentile.first);
            }
        };
        groups.push_back(std::move(group));
    }
    return groups;
}

void add_options(CLI::App& app, LatencyOptions& chosen) {
    add_list(app, "--transport", chosen.transports, "Transports, separated by commas")
        ->check(CLI::IsMember({"tcp", "ipc", "inproc"}));
    add_list(app, "--engine", chosen.engines, "Engines, separated by commas")
        ->check(CLI::IsMember({"telegate", "libzmq", "raw"}));
    app.add_option("--size", chosen.size, "Payload size in bytes")->check(CLI::Range(16, 1024 * 1024));
    auto* const seconds =
        app.add_option("--seconds", chosen.seconds, "Seconds per engine and run")->check(CLI::Range(0.001, 3'600.0));
    app.add_option("--messages", chosen.messages, "Round trips per engine and run; overrides --seconds unless 0")
        ->check(CLI::Range(std::uint64_t{0}, round_trips_max))
        ->excludes(seconds);
    app.add_option("--pin", chosen.placement, "Pin the threads to two processors, or not at all")
        ->check(CLI::IsMember({"apart", "free"}));
}

}  // namespace

Planner describe_latency_command(CLI::App& app) {
    return make_planner<LatencyOptions>(app, add_options, plan);
}

}  // namespace telegate::perf
