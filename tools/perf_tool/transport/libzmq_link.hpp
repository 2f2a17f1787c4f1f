#pragma once

#include "transport/harness.hpp"

#include <zmq.h>

/// Runs workloads with sockets of libzmq.
namespace telegate::perf::libzmq {

/// The configuration of a variant.
struct Setup {
    bool two_contexts = false;  // one for the sender, one for the receivers
    bool message_api = false;   // zmq_msg_send and zmq_msg_recv, without the copy into a buffer
    bool unlimited = false;     // HWM 0
    int buffer_bytes = 0;       // of each connection; 0: default
    int io_threads = 1;         // of each context
};

[[noreturn]] inline void fail(const char* what) {
    throw std::runtime_error(std::string(what) + ": " + zmq_strerror(zmq_errno()));
}
/// Throws std::runtime_error if a call failed.
inline void check(int result, const char* what) {
    if (result < 0) {
        fail(what);
    }
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

/// Creates the keys that the workload needs. Must be called before fork(), so that all processes know them.
[[nodiscard]] inline Keys make_keys(const Workload& work) {
    Keys keys;
    for (KeyPair* const pair : {&keys.server, &keys.client}) {
        if (work.curve) {
            check(zmq_curve_keypair(pair->public_key.data(), pair->secret_key.data()), "zmq_curve_keypair");
        }
    }
    return keys;
}

using Context = std::unique_ptr<void, int (*)(void*)>;

[[nodiscard]] inline Context make_context(int io_threads) {
    Context context(zmq_ctx_new(), zmq_ctx_term);
    check(context == nullptr ? -1 : zmq_ctx_set(context.get(), ZMQ_IO_THREADS, io_threads), "zmq_ctx_new");
    return context;
}

/// Threads: one. Limits: those of libzmq. Failure: throws std::runtime_error.
class Socket {
  public:
    Socket(const Context& context, int type) : socket_(zmq_socket(context.get(), type), zmq_close) {
        if (socket_ == nullptr) {
            fail("zmq_socket");
        }
        set(ZMQ_LINGER, 0);
    }
    [[nodiscard]] void* get() const noexcept { return socket_.get(); }
    void set(int option, int value) {
        check(zmq_setsockopt(socket_.get(), option, &value, sizeof value), "zmq_setsockopt");
    }
    void set(int option, std::chrono::milliseconds time) { set(option, static_cast<int>(time.count())); }
    void set(int option, std::string_view value) {
        check(zmq_setsockopt(socket_.get(), option, value.data(), value.size()), "zmq_setsockopt");
    }
    void configure(const Setup& setup) {
        if (setup.unlimited) {
            set(ZMQ_SNDHWM, 0);
            set(ZMQ_RCVHWM, 0);
        }
        if (setup.buffer_bytes > 0) {
            set(ZMQ_SNDBUF, setup.buffer_bytes);
            set(ZMQ_RCVBUF, setup.buffer_bytes);
        }
    }
    void bind(Transport transport) { check(zmq_bind(socket_.get(), endpoint_text(transport)), "zmq_bind"); }
    void connect(const std::string& address) { check(zmq_connect(socket_.get(), address.c_str()), "zmq_connect"); }
    /// Returns the bound address.
    [[nodiscard]] std::string address() const {
        std::array<char, 256> text{};
        std::size_t bytes = text.size();
        check(zmq_getsockopt(socket_.get(), ZMQ_LAST_ENDPOINT, text.data(), &bytes), "zmq_getsockopt");
        return text.data();
    }

  private:
    std::unique_ptr<void, int (*)(void*)> socket_;
};

/// The contexts of one process.
struct Contexts {
    Contexts(const Setup& setup_in, const Keys& keys_in)
        : setup(setup_in),
          keys(keys_in),
          first(make_context(setup.io_threads)),
          second(setup.two_contexts ? make_context(setup.io_threads) : Context(nullptr, zmq_ctx_term)) {}
    [[nodiscard]] const Context& of_receivers() const noexcept { return second != nullptr ? second : first; }

    const Setup setup;
    const Keys keys;
    Context first;
    Context second;
};

/// Threads: one. Limits: the HWM. Failure: throws std::runtime_error, including if it is full for stillness_max.
class Sender {
  public:
    Sender(Contexts& contexts, const Workload& work)
        : uses_messages_(contexts.setup.message_api),
          socket_(contexts.first, work.pattern == Pattern::router ? ZMQ_ROUTER : ZMQ_PUB) {
        const bool is_router = work.pattern == Pattern::router;
        // Then it waits for full receivers instead of dropping messages.
        socket_.set(is_router ? ZMQ_ROUTER_MANDATORY : ZMQ_XPUB_NODROP, 1);
        socket_.set(ZMQ_SNDTIMEO, stillness_max);
        socket_.configure(contexts.setup);
        if (work.curve) {
            socket_.set(ZMQ_CURVE_SERVER, 1);
            socket_.set(ZMQ_CURVE_SECRETKEY, contexts.keys.server.secret_key.data());
        }
        for (std::size_t topic = 0; topic < work.topics && (is_router || work.topics > 1); ++topic) {
            first_frames_.push_back(is_router ? "receiver" : topic_name(work, topic));
        }
        socket_.bind(work.transport);
    }

    [[nodiscard]] std::string address() const { return socket_.address(); }
    void greet(std::string_view payload) {
        if (first_frames_.empty()) {
            (void)zmq_send(socket_.get(), payload.data(), payload.size(), ZMQ_DONTWAIT);
        }
        for (const std::string& first : first_frames_) {
            if (zmq_send(socket_.get(), first.data(), first.size(), ZMQ_DONTWAIT | ZMQ_SNDMORE) >= 0) {
                send_last(payload);
            }
        }
    }
    void send(std::string_view payload) {
        if (!first_frames_.empty()) {
            send_frame(first_frames_[next_], ZMQ_SNDMORE);
            next_ = next_ + 1 == first_frames_.size() ? 0 : next_ + 1;
        }
        send_last(payload);
    }
    void flush() {}
    void turn() { nap(); }

  private:
    void send_frame(std::string_view frame, int flags) {
        while (zmq_send(socket_.get(), frame.data(), frame.size(), flags) < 0) {
            fail_unless_interrupted();
        }
    }
    void send_last(std::string_view payload) {
        if (!uses_messages_) {
            return send_frame(payload, 0);
        }
        zmq_msg_t message;
        check(zmq_msg_init_size(&message, payload.size()), "zmq_msg_init_size");
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

    const bool uses_messages_;
    Socket socket_;
    std::vector<std::string> first_frames_;  // the identity, or the topics; empty for a single topic
    std::size_t next_ = 0;
};

/// Threads: one. Limits: the HWM. Failure: throws std::runtime_error.
class Receiver {
  public:
    Receiver(Contexts& contexts, const Workload& work, const std::string& address, std::size_t index)
        : uses_messages_(contexts.setup.message_api),
          has_first_frame_(work.pattern == Pattern::router || work.topics > 1),
          socket_(contexts.of_receivers(), work.pattern == Pattern::router ? ZMQ_ROUTER : ZMQ_SUB),
          buffer_(work.size + 1) {  // one byte more, to detect messages that are too long
        if (work.pattern == Pattern::router) {
            socket_.set(ZMQ_ROUTING_ID, "receiver");
        } else {
            socket_.set(ZMQ_SUBSCRIBE, topic_name(work, topic_of(work, index)));
        }
        socket_.set(ZMQ_RCVTIMEO, receive_wait);
        socket_.configure(contexts.setup);
        if (work.curve) {
            socket_.set(ZMQ_CURVE_SERVERKEY, contexts.keys.server.public_key.data());
            socket_.set(ZMQ_CURVE_PUBLICKEY, contexts.keys.client.public_key.data());
            socket_.set(ZMQ_CURVE_SECRETKEY, contexts.keys.client.secret_key.data());
        }
        zmq_msg_init(&message_);
        socket_.connect(address);
    }
    ~Receiver() { zmq_msg_close(&message_); }
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;

    [[nodiscard]] bool receive(Checker& checker) {
        if (has_first_frame_ && receive_frame(first_) < 0) {  // the rest of the message has arrived as well
            return false;
        }
        const int bytes = receive_frame(buffer_);
        if (bytes >= 0) {
            checker.check(uses_messages_ ? zmq_msg_data(&message_) : buffer_.data(), static_cast<std::size_t>(bytes));
        }
        return bytes >= 0;
    }

  private:
    /// Receives into the message or the buffer. Returns the size, or -1 if nothing arrived in time.
    [[nodiscard]] int receive_frame(std::span<char> buffer) {
        const int bytes = uses_messages_ ? zmq_msg_recv(&message_, socket_.get(), 0)
                                         : zmq_recv(socket_.get(), buffer.data(), buffer.size(), 0);
        if (bytes < 0 && zmq_errno() != EAGAIN && zmq_errno() != EINTR) {
            fail("zmq_recv");
        }
        return bytes;
    }

    const bool uses_messages_;
    const bool has_first_frame_;
    Socket socket_;
    std::vector<char> buffer_;
    std::array<char, 256> first_{};
    zmq_msg_t message_;
};

[[nodiscard]] inline Outcome run(const Workload& work, const Setup& setup) {
    return run_workload<Sender, Receiver>(work, [&, keys = make_keys(work)] { return Contexts(setup, keys); });
}

[[nodiscard]] inline std::string version() {
    int major = 0;
    int minor = 0;
    int patch = 0;
    zmq_version(&major, &minor, &patch);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace telegate::perf::libzmq
