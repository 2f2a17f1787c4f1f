#pragma once

#include "influxdb/influxdb_options.hpp"
#include "influxdb/response_reader.hpp"
#include "link/link.hpp"
#include "uplink/adapter_module.hpp"
#include "uplink/server_url.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// Writes messages of line protocol to a server with HTTP/1.1: InfluxDB, VictoriaMetrics, and others. A request has
/// several messages; if the server refuses it, they are sent again one by one, so that each has a response of its own.
///
/// A connection that the server closes is opened again, and its request repeated. If that is impossible at once, the
/// server may have failed, and the connection is lost. One that is idle for long is opened again for the next request.
///
/// Threads: the loop's. Nothing blocks it.
/// Limits:  one connection and one request; lines_max lines and bytes_max bytes in a request, or one message; a copy of
///          the messages that are not acknowledged, which Delivery limits; what ResponseReader reads.
/// Failure: see Adapter. Servers are tried in turn, one per connect(), until one has stored a message.
class InfluxdbAdapter final : public Adapter {
  public:
    static constexpr std::uint64_t lines_max = 5'000;
    static constexpr std::size_t bytes_max = 1'000'000;  // many proxies refuse requests of more than 1 MiB
    /// A server that closes a connection which was idle for longer has not failed, as far as can be known.
    static constexpr std::chrono::seconds idle_min{15};
    /// One that closes connections sooner without a response is not tried again at once.
    static constexpr std::chrono::seconds open_min{1};

    InfluxdbAdapter(AdapterLoop& loop, AdapterOptions options, Events events);
    ~InfluxdbAdapter() override;
    InfluxdbAdapter(const InfluxdbAdapter&) = delete;
    InfluxdbAdapter& operator=(const InfluxdbAdapter&) = delete;

    void connect() override;
    void send(const OutgoingMessage& message, std::uint64_t number) override;
    void check() override {}
    void close() override;
    [[nodiscard]] std::string_view waits_for() const noexcept override;

  private:
    enum class State : std::uint8_t {
        closed,
        connecting,
        tunneling,  // waits for the proxy
        securing,
        idle,
        waiting,  // for a response
        parked,   // the server has closed the idle connection
    };
    /// A message without an acknowledgment.
    struct Message {
        std::uint64_t number = 0;
        std::uint64_t lines = 0;
        std::string payload;
        std::string other_format;  // of a sample that was quarantined by an uplink of another type; "": none
    };

    void later();
    void open();
    void connected();
    void secure();
    void established();
    void ended(const std::string& reason, Link::End end);
    void receive(std::string_view bytes);
    void handle(const HttpResponse& response);
    void refuse(Refusal refusal, const HttpResponse& response, const std::string& reason);
    void send_next();
    void send_request();
    [[nodiscard]] std::string take_body();
    void fail(const std::string& reason, bool is_refused = false);

    AdapterLoop& loop_;
    const AdapterOptions options_;
    const InfluxdbOptions influxdb_;
    const Events events_;
    Link link_;
    ResponseReader reader_;
    State state_ = State::closed;
    bool is_up_ = false;            // up() was called
    bool is_new_ = false;           // connect() was called, so the next server is used
    std::size_t next_server_ = 0;   // index of the URL for the next connection: the same again after an acknowledgment
    std::size_t server_index_ = 0;  // and of this connection
    std::string server_;            // its URL
    ServerUrl url_;
    AdapterSecrets secrets_;  // until the connection is established
    std::string head_;        // of a request, up to the length of its body
    std::deque<Message> queue_;
    std::size_t sent_ = 0;               // messages at the front of the queue that are in the request
    std::size_t singles_ = 0;            // messages at the front of the queue that need requests of their own
    std::size_t bytes_max_ = bytes_max;  // in a request of several messages
    std::string warning_;                // the last one about stored points
    bool has_response_ = false;          // since the connection was opened
    std::chrono::steady_clock::time_point opened_at_{};
    std::chrono::steady_clock::time_point stored_at_{};
};

}  // namespace telegate::uplink
