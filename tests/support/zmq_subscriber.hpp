#pragma once

#include <zmq.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace telegate::test {

/// A libzmq SUB socket with default options.
/// Threads: one. Limits: receive() waits at most the given time. Failure: throws std::runtime_error.
class ZmqSubscriber {
  public:
    explicit ZmqSubscriber(const std::string& endpoint, const std::string& prefix = "")
        : context_(zmq_ctx_new()), socket_(zmq_socket(context_, ZMQ_SUB)) {
        const int unlimited = 0;
        zmq_setsockopt(socket_, ZMQ_RCVHWM, &unlimited, sizeof unlimited);
        zmq_setsockopt(socket_, ZMQ_LINGER, &unlimited, sizeof unlimited);
        zmq_setsockopt(socket_, ZMQ_SUBSCRIBE, prefix.data(), prefix.size());
        if (zmq_connect(socket_, endpoint.c_str()) != 0) {
            throw std::runtime_error("zmq_connect " + endpoint);
        }
    }
    ~ZmqSubscriber() {
        zmq_close(socket_);
        zmq_ctx_term(context_);
    }
    ZmqSubscriber(const ZmqSubscriber&) = delete;
    ZmqSubscriber& operator=(const ZmqSubscriber&) = delete;

    /// Returns the next message as (topic, payload), or nullopt if none arrives in time.
    std::optional<std::pair<std::string, std::string>> receive(int wait_ms) {
        zmq_setsockopt(socket_, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
        auto topic = receive_frame();
        if (!topic) {
            return std::nullopt;
        }
        return std::pair(*topic, receive_frame().value());
    }

  private:
    std::optional<std::string> receive_frame() {
        zmq_msg_t message;
        zmq_msg_init(&message);
        std::optional<std::string> result;
        if (zmq_msg_recv(&message, socket_, 0) >= 0) {
            result.emplace(static_cast<const char*>(zmq_msg_data(&message)), zmq_msg_size(&message));
        }
        zmq_msg_close(&message);
        return result;
    }

    void* context_;
    void* socket_;
};

}  // namespace telegate::test
