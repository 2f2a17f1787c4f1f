#pragma once

#include "endpoint_text.hpp"
#include "harness.hpp"

#include <zmq.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// The workload with sockets of libzmq.
namespace telegate::perf::libzmq {

inline constexpr std::string_view receiver_name = "receiver";

/// One row of the table of variants.
struct Setup {
    bool two_contexts = false;  // sender and receivers each have an I/O thread of their own
    bool message_api = false;   // zmq_msg_send and zmq_msg_recv, without the copy out
    bool unlimited = false;     // HWM 0
    int buffer_bytes = 0;       // of each connection, either way; 0 leaves the system's
    int io_threads = 1;         // of each context
};

[[noreturn]] inline void fail(const char* what) {
    throw std::runtime_error(std::string(what) + ": " + zmq_strerror(zmq_errno()));
}

/// In Z85, as zmq_curve_keypair() writes them.
struct KeyPair {
    std::array<char, 41> public_key{};
    std::array<char, 41> secret_key{};
};

struct Keys {
    KeyPair server;
    KeyPair client;
};

/// Those that the workload needs. To be called before receivers are processes of their own, so that all know them.
[[nodiscard]] inline Keys make_keys(const Workload& work) {
    Keys keys;
    for (KeyPair* const pair : {&keys.server, &keys.client}) {
        if (work.curve && zmq_curve_keypair(pair->public_key.data(), pair->secret_key.data()) != 0) {
            fail("zmq_curve_keypair");
        }
    }
    return keys;
}

/// Whether it is worth while to try again: nothing came in time, or a signal.
[[nodiscard]] inline bool is_passing(int error) noexcept {
    return error == EAGAIN || error == EINTR;
}

/// Threads: any. Limits: none. Failure: throws std::runtime_error.
class Context {
  public:
    explicit Context(int io_threads) : context_(zmq_ctx_new()) {
        if (context_ == nullptr || zmq_ctx_set(context_, ZMQ_IO_THREADS, io_threads) != 0) {
            fail("zmq_ctx_new");
        }
    }
    ~Context() { zmq_ctx_term(context_); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    [[nodiscard]] void* get() const noexcept { return context_; }

  private:
    void* context_;
};

/// Threads: one. Limits: libzmq's. Failure: throws std::runtime_error.
class Socket {
  public:
    Socket(const Context& context, int type) : socket_(zmq_socket(context.get(), type)) {
        if (socket_ == nullptr) {
            fail("zmq_socket");
        }
        set(ZMQ_LINGER, 0);
    }
    ~Socket() { zmq_close(socket_); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    [[nodiscard]] void* get() const noexcept { return socket_; }

    void set_buffers(int bytes) {
        if (bytes > 0) {
            set(ZMQ_SNDBUF, bytes);
            set(ZMQ_RCVBUF, bytes);
        }
    }
    void set(int option, int value) {
        if (zmq_setsockopt(socket_, option, &value, sizeof value) != 0) {
            fail("zmq_setsockopt");
        }
    }
    void set(int option, std::string_view value) {
        if (zmq_setsockopt(socket_, option, value.data(), value.size()) != 0) {
            fail("zmq_setsockopt");
        }
    }

  private:
    void* socket_;
};

/// The contexts of one process.
struct Contexts {
    Contexts(const Workload& /*work*/, const Setup& setup_in, const Keys& keys_in)
        : setup(setup_in),
          keys(keys_in),
          first(setup.io_threads),
          second(setup.two_contexts ? std::make_unique<Context>(setup.io_threads) : nullptr) {}
    [[nodiscard]] const Context& of_receivers() const noexcept { return second != nullptr ? *second : first; }

    const Setup setup;
    const Keys keys;
    Context first;
    std::unique_ptr<Context> second;
};

/// Threads: one. Limits: the HWM. Failure: throws std::runtime_error, also when nothing moves for stillness_max.
class Sender {
  public:
    Sender(Contexts& contexts, const Workload& work)
        : setup_(contexts.setup),
          is_router_(work.pattern == Pattern::router),
          socket_(contexts.first, is_router_ ? ZMQ_ROUTER : ZMQ_PUB) {
        // Either waits now for a receiver that is full, instead of losing messages.
        socket_.set(is_router_ ? ZMQ_ROUTER_MANDATORY : ZMQ_XPUB_NODROP, 1);
        socket_.set(ZMQ_SNDTIMEO, static_cast<int>(std::chrono::milliseconds(stillness_max).count()));
        if (setup_.unlimited) {
            socket_.set(ZMQ_SNDHWM, 0);
        }
        socket_.set_buffers(setup_.buffer_bytes);
        if (work.curve) {
            socket_.set(ZMQ_CURVE_SERVER, 1);
            socket_.set(ZMQ_CURVE_SECRETKEY, contexts.keys.server.secret_key.data());
        }
        for (std::size_t topic = 0; topic < work.topics && !is_router_; ++topic) {
            topics_.push_back(topic_name(work, topic));
        }
        for (std::size_t receiver = 0; receiver < work.receivers && !is_router_; ++receiver) {
            wanted_.push_back(topic_of(work, receiver));
        }
        if (zmq_bind(socket_.get(), endpoint_text(work.transport)) != 0) {
            fail("zmq_bind");
        }
    }

    [[nodiscard]] std::string address() const {
        std::array<char, 256> text{};
        std::size_t bytes = text.size();
        if (zmq_getsockopt(socket_.get(), ZMQ_LAST_ENDPOINT, text.data(), &bytes) != 0) {
            fail("zmq_getsockopt");
        }
        return text.data();
    }
    /// Reaches those who have come so far.
    void greet(std::string_view payload) {
        if (is_router_) {
            greet_by(receiver_name, payload);
        } else if (topics_.size() == 1) {
            (void)zmq_send(socket_.get(), payload.data(), payload.size(), ZMQ_DONTWAIT);
        }
        for (std::size_t index = 0; topics_.size() > 1 && index < wanted_.size(); ++index) {
            if (index == 0 || wanted_[index] != wanted_[index - 1]) {
                greet_by(topics_[wanted_[index]], payload);
            }
        }
    }
    void send(std::string_view payload) {
        if (is_router_) {
            send_first(receiver_name);
        } else if (topics_.size() > 1) {
            send_first(topics_[next_]);
            next_ = next_ + 1 == topics_.size() ? 0 : next_ + 1;
        }
        send_last(payload);
    }
    void flush() {}
    void turn() { nap(); }

  private:
    void greet_by(std::string_view first, std::string_view payload) {
        if (zmq_send(socket_.get(), first.data(), first.size(), ZMQ_DONTWAIT | ZMQ_SNDMORE) >= 0) {
            send_last(payload);
        }
    }
    void send_first(std::string_view frame) {
        while (zmq_send(socket_.get(), frame.data(), frame.size(), ZMQ_SNDMORE) < 0) {
            fail_unless_interrupted();
        }
    }
    void send_last(std::string_view payload) {
        if (!setup_.message_api) {
            while (zmq_send(socket_.get(), payload.data(), payload.size(), 0) < 0) {
                fail_unless_interrupted();
            }
            return;
        }
        zmq_msg_t message;
        if (zmq_msg_init_size(&message, payload.size()) != 0) {
            fail("zmq_msg_init_size");
        }
        std::memcpy(zmq_msg_data(&message), payload.data(), payload.size());
        while (zmq_msg_send(&message, socket_.get(), 0) < 0) {
            fail_unless_interrupted();
        }
    }
    static void fail_unless_interrupted() {
        if (zmq_errno() != EINTR) {
            fail("zmq_send");
        }
    }

    const Setup setup_;
    const bool is_router_;
    Socket socket_;
    std::vector<std::string> topics_;
    std::vector<std::size_t> wanted_;  // topics, in order
    std::size_t next_ = 0;
};

/// Threads: one. Limits: the HWM. Failure: throws std::runtime_error.
class Receiver {
  public:
    Receiver(Contexts& contexts, const Workload& work, const std::string& address, std::size_t index)
        : setup_(contexts.setup),
          first_frames_(work.pattern == Pattern::router || work.topics > 1 ? 1 : 0),
          socket_(contexts.of_receivers(), work.pattern == Pattern::router ? ZMQ_ROUTER : ZMQ_SUB),
          buffer_(work.size + 1) {  // one more, so that a message that is too long is seen
        if (work.pattern == Pattern::router) {
            socket_.set(ZMQ_ROUTING_ID, receiver_name);
        } else {
            socket_.set(ZMQ_SUBSCRIBE, topic_name(work, topic_of(work, index)));
        }
        socket_.set(ZMQ_RCVTIMEO, static_cast<int>(receive_wait.count()));
        if (setup_.unlimited) {
            socket_.set(ZMQ_RCVHWM, 0);
        }
        socket_.set_buffers(setup_.buffer_bytes);
        if (work.curve) {
            socket_.set(ZMQ_CURVE_SERVERKEY, contexts.keys.server.public_key.data());
            socket_.set(ZMQ_CURVE_PUBLICKEY, contexts.keys.client.public_key.data());
            socket_.set(ZMQ_CURVE_SECRETKEY, contexts.keys.client.secret_key.data());
        }
        zmq_msg_init(&message_);
        if (zmq_connect(socket_.get(), address.c_str()) != 0) {
            fail("zmq_connect");
        }
    }
    ~Receiver() { zmq_msg_close(&message_); }
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;

    [[nodiscard]] bool receive(Checker& checker) {
        if (first_frames_ > 0 && !receive_first()) {
            return false;
        }
        if (setup_.message_api) {
            if (zmq_msg_recv(&message_, socket_.get(), 0) < 0) {
                return nothing();
            }
            checker.take(zmq_msg_data(&message_), zmq_msg_size(&message_));
            return true;
        }
        const int bytes = zmq_recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
        if (bytes < 0) {
            return nothing();
        }
        checker.take(buffer_.data(), static_cast<std::size_t>(bytes));
        return true;
    }

  private:
    /// The peer's identity or the topic. What follows it is there already.
    [[nodiscard]] bool receive_first() {
        const int bytes = setup_.message_api ? zmq_msg_recv(&message_, socket_.get(), 0)
                                             : zmq_recv(socket_.get(), first_.data(), first_.size(), 0);
        return bytes >= 0 || nothing();
    }
    [[nodiscard]] static bool nothing() {
        if (!is_passing(zmq_errno())) {
            fail("zmq_recv");
        }
        return false;
    }

    const Setup setup_;
    const int first_frames_;
    Socket socket_;
    std::vector<char> buffer_;
    std::array<char, 256> first_{};
    zmq_msg_t message_;
};

struct Link {
    using Shared = Contexts;
    using Sender = libzmq::Sender;
    using Receiver = libzmq::Receiver;
};

}  // namespace telegate::perf::libzmq
