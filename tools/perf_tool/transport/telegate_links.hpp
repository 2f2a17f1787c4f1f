#pragma once

#include "harness.hpp"

#include "core/curve.hpp"
#include "core/message.hpp"
#include "core/message_reader.hpp"
#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/router.hpp"
#include "core/subscriber.hpp"

#include <optional>
#include <type_traits>

/// Runs workloads with the sockets of core, each with its own Reactor.
namespace telegate::perf {

inline constexpr std::string_view telegate_receiver_name = "receiver";
inline constexpr std::chrono::milliseconds telegate_capacity_wait{10};
inline constexpr std::chrono::milliseconds telegate_turn{1};

struct TelegateSettings {
    std::size_t io_threads = 1;  // of a publisher
    CurveKeyPair server{};
    CurveKeyPair client{};
};

/// Creates the keys that the workload needs. Must be called before fork(), so that all processes know them.
[[nodiscard]] inline TelegateSettings telegate_settings(const Workload& work, std::size_t io_threads) {
    TelegateSettings settings{io_threads};
    if (work.curve) {
        settings.server = make_curve_key_pair();
        settings.client = make_curve_key_pair();
    }
    return settings;
}

struct TelegateShared {
    TelegateShared(const Workload& work, const TelegateSettings& settings_in)
        : is_encrypted(work.curve), settings(settings_in) {}

    [[nodiscard]] PublisherOptions publisher_options() const {
        PublisherOptions options;
        options.io_threads = settings.io_threads;
        options.security = is_encrypted ? Security(CurveServer{settings.server, nullptr}) : Security();
        return options;
    }
    [[nodiscard]] SocketOptions router_options() const {
        SocketOptions options;
        options.security = publisher_options().security;
        return options;
    }
    [[nodiscard]] SocketOptions receiver_options(std::string_view identity) const {
        SocketOptions options;
        options.identity = identity;
        options.security =
            is_encrypted ? Security(CurveClient{settings.client, settings.server.public_key}) : Security();
        return options;
    }

    const bool is_encrypted;
    const TelegateSettings settings;
};

[[nodiscard]] inline Endpoint endpoint_of(const std::string& address) {
    return std::get<Endpoint>(parse_endpoint(address));
}

/// Waits while a subscriber is full, so that no message is lost.
/// Threads: one. Limits: those of the publisher. Failure: throws std::runtime_error if it is full for stillness_max.
class PublisherSender {
  public:
    PublisherSender(TelegateShared& shared, const Workload& work)
        : publisher_(reactor_, shared.publisher_options()), endpoint_(publisher_.bind(endpoint_over(work.transport))) {
        const TopicPlace place = work.topics == 1 ? TopicPlace::in_payload : TopicPlace::first_frame;
        for (std::size_t topic = 0; topic < work.topics; ++topic) {
            topics_.push_back(publisher_.intern(topic_name(work, topic), place));
        }
        for (std::size_t receiver = 0; receiver < work.receivers; ++receiver) {
            const TopicId topic = topics_[topic_of(work, receiver)];
            if (wanted_.empty() || wanted_.back() != topic) {
                wanted_.push_back(topic);
            }
        }
    }

    [[nodiscard]] std::string address() const { return to_string(endpoint_); }
    void greet(std::string_view payload) {
        for (const TopicId topic : wanted_) {
            wait_for_capacity(payload.size());
            publisher_.send(topic, payload);
        }
    }
    void send(std::string_view payload) {
        if (!publisher_.has_room(payload.size())) [[unlikely]] {
            wait_for_capacity(payload.size());
        }
        publisher_.send(topics_[next_], payload);
        next_ = next_ + 1 == topics_.size() ? 0 : next_ + 1;
    }
    void flush() { publisher_.flush(); }
    void turn() { reactor_.run_for(telegate_turn); }

  private:
    void wait_for_capacity(std::size_t bytes) {
        Patience patience;
        while (!publisher_.has_room(bytes)) {
            patience.check("capacity for a message");
            reactor_.run_for(telegate_capacity_wait);
        }
    }

    Reactor reactor_;
    Publisher publisher_;
    const Endpoint endpoint_;
    std::vector<TopicId> topics_;
    std::vector<TopicId> wanted_;  // without duplicates
    std::size_t next_ = 0;
};

/// Retries while the router is full, so that no message is lost.
/// Threads: one. Limits: those of the router. Failure: throws std::runtime_error if it is full for stillness_max.
class RouterSender {
  public:
    RouterSender(TelegateShared& shared, const Workload& work)
        : router_(reactor_, shared.router_options()), endpoint_(router_.bind(endpoint_over(work.transport))) {}

    [[nodiscard]] std::string address() const { return to_string(endpoint_); }
    void greet(std::string_view payload) { (void)router_.send(telegate_receiver_name, {payload}); }
    void send(std::string_view payload) {
        if (router_.send(telegate_receiver_name, {payload}) != SendStatus::sent) [[unlikely]] {
            wait_and_send(payload);
        }
    }
    void flush() { router_.flush(); }
    void turn() { reactor_.run_for(telegate_turn); }

  private:
    void wait_and_send(std::string_view payload) {
        Patience patience;
        for (SendStatus status = SendStatus::full; status != SendStatus::sent;) {
            patience.check("capacity for a message");
            reactor_.run_for(telegate_capacity_wait);
            status = router_.send(telegate_receiver_name, {payload});
            if (status == SendStatus::unknown_peer) {
                throw std::runtime_error("the receiving router disconnected");
            }
        }
    }

    Reactor reactor_;
    Router router_;
    const Endpoint endpoint_;
};

/// A Subscriber or a Router. Threads: one. Limits and failure: as the socket.
template <class Socket>
class TelegateReceiver {
  public:
    TelegateReceiver(TelegateShared& shared, const Workload& work, const std::string& address, std::size_t index)
        : socket_(reactor_, shared.receiver_options(is_subscriber ? std::string_view() : telegate_receiver_name)) {
        if constexpr (is_subscriber) {
            socket_.subscribe(topic_name(work, topic_of(work, index)));
        }
        socket_.connect(endpoint_of(address));
    }

    [[nodiscard]] bool receive(Checker& checker) {
        const std::optional<Message> message = reader_.next(receive_wait);
        if (message) {
            const Bytes payload = (*message)[message->size() - 1];
            checker.take(payload.data(), payload.size());
        }
        return message.has_value();
    }

  private:
    static constexpr bool is_subscriber = std::is_same_v<Socket, Subscriber>;

    Reactor reactor_;
    Socket socket_;
    MessageReader<Socket> reader_{socket_};
};

struct TelegatePubSub {
    using Shared = TelegateShared;
    using Sender = PublisherSender;
    using Receiver = TelegateReceiver<Subscriber>;
};

struct TelegateRouting {
    using Shared = TelegateShared;
    using Sender = RouterSender;
    using Receiver = TelegateReceiver<Router>;
};

}  // namespace telegate::perf
