#pragma once

#include "harness.hpp"

#include "core/curve.hpp"
#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/message_reader.hpp"
#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/router.hpp"
#include "core/subscriber.hpp"
#include "endpoint_text.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The workload with sockets of core, a Reactor for each.
namespace telegate::perf {

inline constexpr std::string_view telegate_receiver_name = "receiver";
inline constexpr std::chrono::milliseconds telegate_room_wait{10};
inline constexpr std::chrono::milliseconds telegate_turn{1};

struct TelegateSettings {
    std::size_t io_threads = 1;  // of a publisher
    CurveKeyPair server{};
    CurveKeyPair client{};
};

/// With the keys that the workload needs. To be called before receivers are processes of their own, so that all know
/// them.
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
        : is_sealed(work.curve), settings(settings_in) {}

    [[nodiscard]] PublisherOptions publisher_options() const {
        PublisherOptions options;
        options.io_threads = settings.io_threads;
        options.security = of_sender();
        return options;
    }
    [[nodiscard]] SocketOptions router_options() const {
        SocketOptions options;
        options.security = of_sender();
        return options;
    }
    [[nodiscard]] SocketOptions receiver_options(std::string_view identity) const {
        SocketOptions options;
        options.identity = identity;
        options.security = is_sealed ? Security(CurveClient{settings.client, settings.server.public_key}) : Security();
        return options;
    }
    [[nodiscard]] Security of_sender() const {
        return is_sealed ? Security(CurveServer{settings.server, nullptr}) : Security();
    }

    const bool is_sealed;
    const TelegateSettings settings;
};

[[nodiscard]] inline Endpoint endpoint_to_bind(Transport transport) {
    return std::get<Endpoint>(parse_endpoint(endpoint_text(transport)));
}

[[nodiscard]] inline Endpoint endpoint_of(const std::string& address) {
    return std::get<Endpoint>(parse_endpoint(address));
}

/// Asks for room before each message, so that none is lost.
/// Threads: one. Limits: the publisher's. Failure: throws std::runtime_error when there is no room for stillness_max.
class PublisherSender {
  public:
    PublisherSender(TelegateShared& shared, const Workload& work)
        : publisher_(reactor_, shared.publisher_options()),
          endpoint_(publisher_.bind(endpoint_to_bind(work.transport))) {
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
            wait_for_room(payload.size());
            publisher_.send(topic, payload);
        }
    }
    void send(std::string_view payload) {
        if (!publisher_.has_room(payload.size())) [[unlikely]] {
            wait_for_room(payload.size());
        }
        publisher_.send(topics_[next_], payload);
        next_ = next_ + 1 == topics_.size() ? 0 : next_ + 1;
    }
    void flush() { publisher_.flush(); }
    void turn() { reactor_.run_for(telegate_turn); }

  private:
    void wait_for_room(std::size_t bytes) {
        Patience patience;
        while (!publisher_.has_room(bytes)) {
            patience.check("room for a message");
            reactor_.run_for(telegate_room_wait);
        }
    }

    Reactor reactor_;
    Publisher publisher_;
    const Endpoint endpoint_;
    std::vector<TopicId> topics_;
    std::vector<TopicId> wanted_;  // each once
    std::size_t next_ = 0;
};

/// Whether there was a message in time.
template <class Socket>
[[nodiscard]] bool check_next(MessageReader<Socket>& reader, Checker& checker) {
    const std::optional<Message> message = reader.next(receive_wait);
    if (!message) {
        return false;
    }
    const Bytes payload = (*message)[message->size() - 1];
    checker.take(payload.data(), payload.size());
    return true;
}

/// Threads: one. Limits: the subscriber's. Failure: as Subscriber's.
class SubscriberReceiver {
  public:
    SubscriberReceiver(TelegateShared& shared, const Workload& work, const std::string& address, std::size_t index)
        : subscriber_(reactor_, shared.receiver_options({})) {
        subscriber_.subscribe(topic_name(work, topic_of(work, index)));
        subscriber_.connect(endpoint_of(address));
    }

    [[nodiscard]] bool receive(Checker& checker) { return check_next(reader_, checker); }

  private:
    Reactor reactor_;
    Subscriber subscriber_;
    MessageReader<Subscriber> reader_{subscriber_};
};

/// Tries again while the router is full, so that nothing is lost.
/// Threads: one. Limits: the router's. Failure: throws std::runtime_error when it is full for stillness_max.
class RouterSender {
  public:
    RouterSender(TelegateShared& shared, const Workload& work)
        : router_(reactor_, shared.router_options()), endpoint_(router_.bind(endpoint_to_bind(work.transport))) {}

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
        for (;;) {
            const SendStatus status = router_.send(telegate_receiver_name, {payload});
            if (status == SendStatus::sent) {
                return;
            }
            if (status == SendStatus::unknown_peer) {
                throw std::runtime_error("the receiving router has gone");
            }
            patience.check("room for a message");
            reactor_.run_for(telegate_room_wait);
        }
    }

    Reactor reactor_;
    Router router_;
    const Endpoint endpoint_;
};

/// Threads: one. Limits: the router's. Failure: as Router's.
class RouterReceiver {
  public:
    RouterReceiver(TelegateShared& shared, const Workload& /*work*/, const std::string& address, std::size_t /*index*/)
        : router_(reactor_, shared.receiver_options(telegate_receiver_name)) {
        router_.connect(endpoint_of(address));
    }

    [[nodiscard]] bool receive(Checker& checker) { return check_next(reader_, checker); }

  private:
    Reactor reactor_;
    Router router_;
    MessageReader<Router> reader_{router_};
};

struct TelegatePubSub {
    using Shared = TelegateShared;
    using Sender = PublisherSender;
    using Receiver = SubscriberReceiver;
};

struct TelegateRouting {
    using Shared = TelegateShared;
    using Sender = RouterSender;
    using Receiver = RouterReceiver;
};

}  // namespace telegate::perf
