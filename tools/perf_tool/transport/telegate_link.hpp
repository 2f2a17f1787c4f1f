#pragma once

#include "transport/harness.hpp"

#include "core/curve.hpp"
#include "core/message.hpp"
#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/router.hpp"
#include "core/subscriber.hpp"

#include <type_traits>

/// Runs workloads with the sockets of core, each with its own Reactor.
namespace telegate::perf {

inline constexpr std::string_view routed_name = "receiver";

/// The options of the sockets, with the keys that the workload needs. Must be created before fork(), so that all
/// processes know them.
struct TelegateSettings {
    explicit TelegateSettings(const Workload& work, std::size_t io_threads = 1) {
        publisher.io_threads = io_threads;
        if (work.curve) {
            const CurveKeyPair server = make_curve_key_pair();
            router.security = CurveServer{server, nullptr};
            publisher.security = router.security;
            receiver.security = CurveClient{make_curve_key_pair(), server.public_key};
        }
        if (work.pattern == Pattern::router) {
            receiver.identity = routed_name;
        }
    }

    PublisherOptions publisher;
    SocketOptions router;
    SocketOptions receiver;
};

/// Runs the reactor until the condition is true. Throws std::runtime_error after stillness_max.
template <class Condition>
void wait_for_capacity(Reactor& reactor, const Condition& condition) {
    Patience patience;
    while (!condition()) {
        patience.check("capacity for a message");
        reactor.run_for(std::chrono::milliseconds(10));
    }
}

/// Waits while a subscriber is full, so that no message is lost.
/// Threads: one. Limits: those of the publisher. Failure: throws std::runtime_error if it is full for stillness_max.
class PublisherSender {
  public:
    PublisherSender(const TelegateSettings& settings, const Workload& work)
        : publisher_(reactor_, settings.publisher), endpoint_(publisher_.bind(endpoint_over(work.transport))) {
        const TopicPlace place = work.topics == 1 ? TopicPlace::in_payload : TopicPlace::first_frame;
        for (std::size_t topic = 0; topic < work.topics; ++topic) {
            topics_.push_back(publisher_.intern(topic_name(work, topic), place));
        }
    }

    [[nodiscard]] std::string address() const { return to_string(endpoint_); }
    void greet(std::string_view payload) {
        for (std::size_t topic = 0; topic < topics_.size(); ++topic) {
            send(payload);
        }
    }
    void send(std::string_view payload) {
        if (!publisher_.has_room(payload.size())) [[unlikely]] {
            wait_for_capacity(reactor_, [&] { return publisher_.has_room(payload.size()); });
        }
        publisher_.send(topics_[next_], payload);
        next_ = next_ + 1 == topics_.size() ? 0 : next_ + 1;
    }
    void flush() { publisher_.flush(); }
    void turn() { reactor_.run_for(std::chrono::milliseconds(1)); }

  private:
    Reactor reactor_;
    Publisher publisher_;
    const Endpoint endpoint_;
    std::vector<TopicId> topics_;
    std::size_t next_ = 0;
};

/// Retries while the router is full, so that no message is lost.
/// Threads: one. Limits: those of the router. Failure: throws std::runtime_error if it is full for stillness_max.
class RouterSender {
  public:
    RouterSender(const TelegateSettings& settings, const Workload& work)
        : router_(reactor_, settings.router), endpoint_(router_.bind(endpoint_over(work.transport))) {}

    [[nodiscard]] std::string address() const { return to_string(endpoint_); }
    void greet(std::string_view payload) { (void)try_to_send(payload); }
    void send(std::string_view payload) {
        if (!try_to_send(payload)) [[unlikely]] {
            wait_for_capacity(reactor_, [&] { return try_to_send(payload); });
        }
    }
    void flush() { router_.flush(); }
    void turn() { reactor_.run_for(std::chrono::milliseconds(1)); }

  private:
    [[nodiscard]] bool try_to_send(std::string_view payload) {
        return router_.send(routed_name, {payload}) == SendStatus::sent;
    }

    Reactor reactor_;
    Router router_;
    const Endpoint endpoint_;
};

/// A Subscriber or a Router. Threads: one. Limits and failure: as the socket.
template <class Socket>
class TelegateReceiver {
  public:
    TelegateReceiver(const TelegateSettings& settings, const Workload& work, const std::string& address,
                     std::size_t index)
        : socket_(reactor_, settings.receiver) {
        if constexpr (std::is_same_v<Socket, Subscriber>) {
            socket_.subscribe(topic_name(work, topic_of(work, index)));
        }
        socket_.connect(std::get<Endpoint>(parse_endpoint(address)));
    }

    [[nodiscard]] bool receive(Checker& checker) {
        const std::optional<Message> message = reader_.next(receive_wait);
        if (message) {
            const Bytes payload = (*message)[message->size() - 1];
            checker.check(payload.data(), payload.size());
        }
        return message.has_value();
    }

  private:
    Reactor reactor_;
    Socket socket_;
    MessageReader<Socket> reader_{socket_};
};

[[nodiscard]] inline Outcome run_telegate(const Workload& work, std::size_t io_threads = 1) {
    const TelegateSettings settings(work, io_threads);
    const auto shared = [&]() -> const TelegateSettings& {
        return settings;
    };
    return work.pattern == Pattern::pubsub ? run_workload<PublisherSender, TelegateReceiver<Subscriber>>(work, shared)
                                           : run_workload<RouterSender, TelegateReceiver<Router>>(work, shared);
}

}  // namespace telegate::perf
