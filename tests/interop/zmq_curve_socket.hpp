#pragma once

#include "core/curve.hpp"

#include <zmq.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace telegate::test {

/// A libzmq socket with CURVE.
/// Threads: one. Limits: no call waits longer than wait_ms. Failure: throws std::runtime_error.
class ZmqCurveSocket {
  public:
    static constexpr int wait_ms = 60'000;

    explicit ZmqCurveSocket(int type) : context_(zmq_ctx_new()), socket_(zmq_socket(context_, type)) {
        set(ZMQ_RCVTIMEO, wait_ms);
        set(ZMQ_SNDTIMEO, wait_ms);
        set(ZMQ_LINGER, 0);
    }
    ~ZmqCurveSocket() {
        if (zap_ != nullptr) {
            zmq_close(zap_);
        }
        zmq_close(socket_);
        zmq_ctx_term(context_);
    }
    ZmqCurveSocket(const ZmqCurveSocket&) = delete;
    ZmqCurveSocket& operator=(const ZmqCurveSocket&) = delete;

    void set(int option, int value) { check(zmq_setsockopt(socket_, option, &value, sizeof value)); }
    void set(int option, const std::string& value) {
        check(zmq_setsockopt(socket_, option, value.data(), value.size()));
    }
    void be_server(const CurveKeyPair& keys) {
        set(ZMQ_CURVE_SERVER, 1);
        set(ZMQ_CURVE_SECRETKEY, to_z85(keys.secret_key));
    }
    void be_client(const CurveKeyPair& keys, const CurveKey& server_key) {
        set(ZMQ_CURVE_PUBLICKEY, to_z85(keys.public_key));
        set(ZMQ_CURVE_SECRETKEY, to_z85(keys.secret_key));
        set(ZMQ_CURVE_SERVERKEY, to_z85(server_key));
    }
    /// Answers the next ZAP request of this socket's context with `status`.
    void open_zap() {
        zap_ = zmq_socket(context_, ZMQ_REP);
        const int linger = 0;
        zmq_setsockopt(zap_, ZMQ_LINGER, &linger, sizeof linger);
        check(zmq_bind(zap_, "inproc://zeromq.zap.01"));
        set(ZMQ_ZAP_DOMAIN, "global");
    }
    void answer_zap(const std::string& status) {
        const std::vector<std::string> request = receive_from(zap_);
        for (const std::string& frame :
             {std::string("1.0"), request.at(1), status, std::string("text"), std::string()}) {
            check(zmq_send(zap_, frame.data(), frame.size(), ZMQ_SNDMORE));
        }
        check(zmq_send(zap_, "", 0, 0));
    }

    /// Returns the port.
    std::uint16_t bind() {
        check(zmq_bind(socket_, "tcp://127.0.0.1:*"));
        std::array<char, 64> endpoint{};
        std::size_t size = endpoint.size();
        check(zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, endpoint.data(), &size));
        const std::string text = endpoint.data();
        return static_cast<std::uint16_t>(std::stoi(text.substr(text.rfind(':') + 1)));
    }
    void connect(std::uint16_t port) {
        check(zmq_connect(socket_, ("tcp://127.0.0.1:" + std::to_string(port)).c_str()));
    }

    void send(const std::vector<std::string>& frames) {
        for (std::size_t i = 0; i < frames.size(); ++i) {
            check(zmq_send(socket_, frames[i].data(), frames[i].size(), i + 1 < frames.size() ? ZMQ_SNDMORE : 0));
        }
    }
    [[nodiscard]] std::vector<std::string> receive() { return receive_from(socket_); }

  private:
    [[nodiscard]] static std::vector<std::string> receive_from(void* socket) {
        std::vector<std::string> frames;
        bool more = true;
        while (more) {
            zmq_msg_t frame;
            zmq_msg_init(&frame);
            check(zmq_msg_recv(&frame, socket, 0));
            frames.emplace_back(static_cast<const char*>(zmq_msg_data(&frame)), zmq_msg_size(&frame));
            more = zmq_msg_more(&frame) != 0;
            zmq_msg_close(&frame);
        }
        return frames;
    }
    static void check(int result) {
        if (result < 0) {
            throw std::runtime_error(zmq_strerror(zmq_errno()));
        }
    }

    void* context_;
    void* socket_;
    void* zap_ = nullptr;
};

}  // namespace telegate::test
