#pragma once

#include "link/link.hpp"
#include "nats/handshake.hpp"
#include "nats/nats_parser.hpp"
#include "uplink/adapter_module.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::uplink {

/// Publishes messages to a stream of NATS JetStream. Each message has its id as Nats-Msg-Id, so the stream drops
/// repeated ones within its duplicate window. A new connection is used after the stream is found to be suitable.
///
/// It speaks the few operations of the protocol that it needs, and reconnects to nothing and sends nothing again:
/// retries, backoff and the choice of the server are those of the uplink.
///
/// Threads: the loop's. Nothing blocks it.
/// Limits:  one connection; the bytes of messages that are not written yet, which Delivery limits; what NatsParser
///          reads; Link::response_bytes_max and errors_max. A server that exceeds a limit is disconnected with the
///          reason.
/// Failure: see Adapter. Servers are tried in turn, one per connect(), until one acknowledges a message.
class JetStreamAdapter final : public Adapter {
  public:
    static constexpr std::size_t errors_max = 16;  // of a connection that stays in use

    JetStreamAdapter(AdapterLoop& loop, AdapterOptions options, Events events);
    ~JetStreamAdapter() override;
    JetStreamAdapter(const JetStreamAdapter&) = delete;
    JetStreamAdapter& operator=(const JetStreamAdapter&) = delete;

    void connect() override;
    void send(const OutgoingMessage& message, std::uint64_t number) override;
    void check() override;
    void close() override;
    [[nodiscard]] std::string_view waits_for() const noexcept override;

  private:
    enum class State : std::uint8_t { closed, connecting, greeting, securing, authenticating, checking, up };

    void later();
    void open();
    void receive(std::string_view bytes);
    void handle(const NatsOperation& operation);
    void handle_info(std::string_view json);
    void handle_error(std::string_view text);
    void authenticate();
    void authenticated();
    void handle_message(const NatsOperation& message);
    void handle_no_responders();
    void handle_check(std::string_view reply, std::string_view json);
    void request(const std::string& subject, const char* reply, const std::string& body);
    void request_stream();
    void warn(const std::string& text);
    void set_up(std::optional<Place> last = std::nullopt);
    void fail(const std::string& reason, bool is_refused = false);

    AdapterLoop& loop_;
    const AdapterOptions options_;
    const Events events_;
    Link link_;
    NatsParser parser_;
    State state_ = State::closed;
    bool is_waiting_ = false;       // for later(), to open the connection
    std::size_t next_server_ = 0;   // index of the URL for the next connection: the same again after an acknowledgment
    std::size_t server_index_ = 0;  // and of this connection
    std::string server_;            // its URL
    ServerUrl address_;
    AdapterSecrets secrets_;  // until the client is authenticated
    ServerInfo info_;
    std::size_t errors_ = 0;
    std::string stream_;                // "": not known yet
    std::vector<std::string> streams_;  // that may store the messages; empty: not known
    std::uint64_t identity_ = 0;        // of the stream
    std::string warning_;               // about the stream
    std::string inbox_;                 // subject of the replies, with a dot at its end
    std::string refused_check_;         // the error of a request that the server does not permit; "": none
    std::vector<std::uint64_t> too_large_;
};

}  // namespace telegate::uplink
