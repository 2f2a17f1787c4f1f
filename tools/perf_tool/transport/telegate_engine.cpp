#include "engine.hpp"
#include "harness.hpp"

#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/router.hpp"
#include "core/subscriber.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate::perf {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view receiver_name = "receiver";
constexpr auto room_wait = 10ms;

struct NothingShared {
    explicit NothingShared(const Workload& /*work*/) {}
};

[[nodiscard]] Endpoint endpoint_to_bind(Transport transport) {
    const std::string_view text = transport == Transport::tcp   ? "tcp://127.0.0.1:*"
                                  : transport == Transport::ipc ? "ipc://*"
                                                                : "inproc://perf_tool";
    return std::get<Endpoint>(parse_endpoint(text));
}

[[nodiscard]] Endpoint endpoint_of(const std::string& address) {
    return std::get<Endpoint>(parse_endpoint(address));
}

class PublisherSender {
  public:
    PublisherSender(NothingShared& /*shared*/, const Workload& work)
        : publisher_(reactor_, {}), endpoint_(publisher_.bind(endpoint_to_bind(work.transport))) {
        for (std::size_t topic = 0; topic < work.topics; ++topic) {
            topics_.push_back(publisher_.intern(topic_name(work, topic)));
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
    void turn() { reactor_.run_for(1ms); }

  private:
    void wait_for_room(std::size_t bytes) {
        Patience patience;
        while (!publisher_.has_room(bytes)) {
            patience.check("room for a message");
            reactor_.run_for(room_wait);
        }
    }

    Reactor reactor_;
    Publisher publisher_;
    const Endpoint endpoint_;
    std::vector<TopicId> topics_;
    std::vector<TopicId> wanted_;
    std::size_t next_ = 0;
};

class SubscriberReceiver {
  public:
    SubscriberReceiver(NothingShared& /*shared*/, const Workload& work, const std::string& address, std::size_t index)
        : subscriber_(reactor_, {}) {
        subscriber_.subscribe(topic_name(work, topic_of(work, index)));
        subscriber_.connect(endpoint_of(address));
    }

    [[nodiscard]] bool receive(Checker& checker) {
        if (!subscriber_.receive_for(batch_, receive_wait)) {
            return false;
        }
        for (const Message message : batch_) {
            const Bytes payload = message[message.size() - 1];
            checker.take(payload.data(), payload.size());
        }
        return true;
    }

  private:
    Reactor reactor_;
    Subscriber subscriber_;
    MessageBatch batch_;
};

[[nodiscard]] SocketOptions named(std::string_view identity) {
    SocketOptions options;
    options.identity = identity;
    return options;
}

class RouterSender {
  public:
    RouterSender(NothingShared& /*shared*/, const Workload& work)
        : router_(reactor_, {}), endpoint_(router_.bind(endpoint_to_bind(work.transport))) {}

    [[nodiscard]] std::string address() const { return to_string(endpoint_); }
    void greet(std::string_view payload) { (void)router_.send(receiver_name, {payload}); }
    void send(std::string_view payload) {
        if (router_.send(receiver_name, {payload}) != SendStatus::sent) [[unlikely]] {
            wait_and_send(payload);
        }
    }
    void flush() { router_.flush(); }
    void turn() { reactor_.run_for(1ms); }

  private:
    void wait_and_send(std::string_view payload) {
        Patience patience;
        for (;;) {
            const SendStatus status = router_.send(receiver_name, {payload});
            if (status == SendStatus::sent) {
                return;
            }
            if (status == SendStatus::unknown_peer) {
                throw std::runtime_error("the receiving router has gone");
            }
            patience.check("room for a message");
            reactor_.run_for(room_wait);
        }
    }

    Reactor reactor_;
    Router router_;
    const Endpoint endpoint_;
};

class RouterReceiver {
  public:
    RouterReceiver(NothingShared& /*shared*/, const Workload& /*work*/, const std::string& address,
                   std::size_t /*index*/)
        : router_(reactor_, named(receiver_name)) {
        router_.connect(endpoint_of(address));
    }

    [[nodiscard]] bool receive(Checker& checker) {
        if (!router_.receive_for(batch_, receive_wait)) {
            return false;
        }
        for (const Message message : batch_) {
            const Bytes payload = message[message.size() - 1];
            checker.take(payload.data(), payload.size());
        }
        return true;
    }

  private:
    Reactor reactor_;
    Router router_;
    MessageBatch batch_;
};

struct PubSubLink {
    using Shared = NothingShared;
    using Sender = PublisherSender;
    using Receiver = SubscriberReceiver;
};

struct RouterLink {
    using Shared = NothingShared;
    using Sender = RouterSender;
    using Receiver = RouterReceiver;
};

Outcome run(const Workload& work) {
    return work.pattern == Pattern::pubsub ? run_workload<PubSubLink>(work) : run_workload<RouterLink>(work);
}

constexpr std::array<Engine, 1> engines{{{"telegate", "", is_possible, run}}};

}  // namespace

std::span<const Engine> telegate_engines() {
    return engines;
}

}  // namespace telegate::perf
