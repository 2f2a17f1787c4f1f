#pragma once

#include "nats/nats_handles.hpp"
#include "uplink/adapter_module.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::uplink {

/// Publishes messages to a stream of NATS JetStream with libnats. Each message has its id as Nats-Msg-Id, so the stream
/// drops repeated ones within its duplicate window. A new connection is used after the stream is found to be suitable.
///
/// libnats reads and writes in the event loop of the adapter. It has no thread for the connection, reconnects to
/// nothing and sends nothing again: retries, backoff and the choice of the server are those of the uplink.
///
/// Threads: the loop's. Opening a connection blocks it for up to connect_max, besides resolving the name of the host.
/// Limits:  one connection; the bytes of messages that are not written yet, which Delivery limits.
/// Failure: see Adapter. Servers are tried in turn, one per connect(), until one acknowledges a message.
class JetStreamAdapter final : public Adapter {
  public:
    static constexpr std::chrono::milliseconds connect_max{2'000};

    JetStreamAdapter(AdapterLoop& loop, AdapterOptions options, Events events);
    ~JetStreamAdapter() override;
    JetStreamAdapter(const JetStreamAdapter&) = delete;
    JetStreamAdapter& operator=(const JetStreamAdapter&) = delete;

    void connect() override;
    void send(const OutgoingMessage& message, std::uint64_t number) override;
    void check() override;
    void close() override;

  private:
    enum class State : std::uint8_t { closed, connecting, checking, up };
    struct LoopCalls;  // the functions that libnats calls

    void later();
    void open();
    void attach(int socket);
    void read();
    void write();
    [[nodiscard]] bool is_usable();
    void receive();
    void handle(natsMsg* message);
    void handle_no_responders();
    void handle_check(std::string_view reply, std::string_view json);
    [[nodiscard]] bool request_stream();
    void request(const std::string& subject, const char* reply, const std::string& body);
    void warn(const std::string& text);
    void set_up(std::optional<Place> last);
    void fail(const std::string& reason);
    void fail_later(std::string reason);

    AdapterLoop& loop_;
    const AdapterOptions options_;
    const Events events_;
    State state_ = State::closed;
    std::size_t next_server_ = 0;   // index of the URL for the next connection: the same again after an acknowledgment
    std::size_t server_index_ = 0;  // and of this connection
    std::string server_;            // its URL
    int socket_ = -1;               // owned by libnats; -1: not watched
    bool is_write_wanted_ = false;
    NatsConnection connection_;
    NatsSubscription replies_;
    std::string stream_;         // "": not known yet
    std::string inbox_;          // subject of the replies, with a dot at its end
    std::string refused_check_;  // the error of a request that the server does not permit; "": none
    std::string failure_;        // reported by later()
    std::vector<std::uint64_t> too_large_;
};

}  // namespace telegate::uplink
