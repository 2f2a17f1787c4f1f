#pragma once

#include "uplink/adapter.hpp"
#include "uplink/nats_codec.hpp"

#include "core/reactor.hpp"
#include "core/unique_fd.hpp"
#include "core/watch.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::uplink {

/// The address of a NATS server.
struct NatsServer {
    std::string host;
    std::string port = "4222";
};
/// Parses nats://HOST or nats://HOST:PORT; an IPv6 address is in brackets.
[[nodiscard]] std::optional<NatsServer> parse_nats_url(std::string_view url);

/// Publishes messages to a stream of NATS JetStream. Each message has its id as Nats-Msg-Id, so the stream drops
/// repeated ones within its duplicate window.
///
/// Threads: the reactor's. connect() waits for the resolver if a host is not a numeric address.
/// Limits:  one connection; the bytes of messages that are not written yet.
/// Failure: see Adapter. Servers are tried in turn, one per connect().
class JetStreamAdapter final : public Adapter {
  public:
    struct Options {
        std::vector<NatsServer> servers;
        std::string subject;
        std::string client_name;
        /// Called for each connection; throws std::exception if the credentials cannot be read.
        std::function<NatsCredentials()> credentials;
    };
    JetStreamAdapter(Reactor& reactor, Options options, Events events);
    ~JetStreamAdapter() override;
    JetStreamAdapter(const JetStreamAdapter&) = delete;
    JetStreamAdapter& operator=(const JetStreamAdapter&) = delete;

    void connect() override;
    void send(const OutgoingMessage& message, std::uint64_t number) override;
    void close() override;

  private:
    enum class State : std::uint8_t { closed, connecting, greeting, authenticating, up };
    struct Address;

    void open_socket();
    void fail_later(std::string reason);
    void fail(const std::string& reason);
    void read();
    void write();
    void on_connected();
    void handle(const NatsFrame& frame);
    void greet(const NatsFrame& frame);
    void handle_response(const NatsFrame& frame);

    Reactor& reactor_;
    const Options options_;
    const Events events_;
    State state_ = State::closed;
    std::size_t next_server_ = 0;
    std::string server_;  // of the connection, as HOST:PORT
    std::vector<Address> addresses_;
    std::size_t next_address_ = 0;
    UniqueFd socket_;
    std::unique_ptr<Watch> watch_;  // destroyed before socket_
    NatsDecoder decoder_;
    std::string inbox_;  // subject of the responses, with a dot at its end
    std::uint64_t payload_bytes_max_ = 0;
    std::string out_;  // not written yet, from written_ on
    std::size_t written_ = 0;
    std::string failure_;  // reported by later_
    std::vector<std::uint64_t> too_large_;
    Later later_;
};

}  // namespace telegate::uplink
