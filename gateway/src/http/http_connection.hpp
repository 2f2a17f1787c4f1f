#pragma once

#include "http/http_budget.hpp"
#include "http/http_head.hpp"
#include "http/http_message.hpp"
#include "http/http_reply.hpp"
#include "http/http_socket.hpp"

#include "core/clock.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {

/// The priority of a connection when connections_max are open: the one with the lowest claim is closed.
struct HttpClaim {
    enum class Standing : std::uint8_t {
        stuck,       // the client does not read the response
        opening,     // in the TLS handshake
        resting,     // idle between requests, or closing
        taking,      // the client is reading a response
        requesting,  // has connected, has sent a part of a request, or is idle after one for a prioritized path
    };
    Standing standing = Standing::stuck;
    MonoTime time{};  // among equals, the earliest is closed

    bool operator<(const HttpClaim& other) const noexcept {
        return standing != other.standing ? standing < other.standing : time < other.time;
    }
};

/// A timer of the I/O thread.
using HttpTimer =
    boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                      boost::asio::io_context::executor_type>;

/// The server as its connections see it. It outlives them.
class HttpHost {
  public:
    HttpHost(const HttpLimits& limits, HttpCalls given) : calls(std::move(given)), budget(limits) {}
    virtual ~HttpHost() = default;
    HttpHost(const HttpHost&) = delete;
    HttpHost& operator=(const HttpHost&) = delete;

    /// Calls begin_answer() when a worker is free, then answer() on that worker, then end_answer().
    virtual void queue(std::shared_ptr<HttpConnection> connection) = 0;
    /// Ends a stream of a client that has to yield to `client`. Returns false if there is none.
    virtual bool end_a_stream(std::string_view client) = 0;
    /// Closes a connection that does not read its response. Returns false if there is none.
    virtual bool end_a_response() = 0;
    /// Calls wake_stream() of all connections soon.
    virtual void wake_streams() noexcept = 0;
    /// Called by the destructor of the connection.
    virtual void forget(const HttpConnection& connection) noexcept = 0;
    [[nodiscard]] virtual bool is_stopping() const noexcept = 0;

    const HttpCalls calls;
    HttpBudget budget;
};

/// The connection of one client: reads requests and responds to them in order. A pending socket operation or response
/// keeps the object alive.
///
/// Threads: the I/O thread, except answer().
/// Limits: see HttpLimits. Except on streams, nothing is read between a request and the end of its response.
/// Failure: a peer that disconnects or exceeds a limit, and a stream source that throws, end this connection only.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
  public:
    HttpConnection(std::unique_ptr<HttpSocket> socket, HttpPeer peer, boost::asio::io_context& io, HttpHost& host);
    ~HttpConnection();
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    void open() noexcept;
    /// Closes the connection. Idempotent.
    void close() noexcept;
    /// Closes the connection and releases what it has reserved at once.
    void displace() noexcept;
    /// Returns whether the request still waits for a worker. If so, the caller must call answer() next, and the object
    /// is kept alive until end_answer().
    [[nodiscard]] bool begin_answer() noexcept;
    /// Calls the handler. Returns HttpResponse::later, which is empty if there is a response. Threads: a worker.
    [[nodiscard]] std::function<void(HttpAnswer)> answer() noexcept;
    /// Receives the response to a request whose handler responds later. Threads: any, before end_answer().
    void answer(HttpResponse response) noexcept;
    void end_answer() noexcept;
    /// Notifies the connection that its stream, if it has one, may have new data.
    void wake_stream() noexcept;
    /// Sends the end of a stream, as far as possible without waiting, and closes.
    void finish() noexcept;

    [[nodiscard]] bool is_open() const noexcept { return phase_ != Phase::closed; }
    [[nodiscard]] bool is_streaming() const noexcept { return is_streaming_; }
    /// Returns whether it counts against connections_max.
    [[nodiscard]] bool holds_a_place() const noexcept { return is_open() && !is_streaming_; }
    /// Returns whether the peer has not read what was sent for a while.
    [[nodiscard]] bool is_stuck(MonoTime now) const noexcept;
    [[nodiscard]] bool has_reserved_response() const noexcept { return has_response_; }
    /// Returns the client that the peer counts as.
    [[nodiscard]] const std::string& client() const noexcept { return client_; }
    /// Returns the claim, or nullopt if the connection must not be closed now.
    [[nodiscard]] std::optional<HttpClaim> claim(MonoTime now) const noexcept;

  private:
    enum class Phase { request, queued, answering, idle, response, streaming, lingering, closed };
    static constexpr std::size_t receive_bytes = 4 * 1024;  // most requests are shorter

    void start(Phase phase);
    void wait_until(MonoTime time);
    [[nodiscard]] HttpDone done(void (HttpConnection::*next)(bool, std::size_t));
    template <typename Action>
    void guarded(const Action& action) noexcept;

    // Completion handlers.
    void opened(bool ok, std::size_t bytes);
    void received(bool ok, std::size_t bytes);
    void sent(bool ok, std::size_t bytes);
    void ended(bool ok, std::size_t bytes);
    void expired(bool ok, std::size_t bytes);
    void resumed(bool ok, std::size_t bytes);

    void go_on();
    void receive();
    void send();
    bool pull();
    void end_pull();
    void begin_stream();
    void end_stream() noexcept;
    void linger();

    bool parse_request();
    [[nodiscard]] HeadFault parse_head(std::size_t head_bytes);
    void hand_over();
    void wait_for_request();
    void skip_body();
    void reserve_response();
    void release_response() noexcept;
    void drop_response() noexcept;
    void refuse(int status, std::string detail);
    [[nodiscard]] HttpResponse call_handler();

    const std::unique_ptr<HttpSocket> socket_;
    HttpPeer peer_;
    const std::string client_;
    HttpHost& host_;
    const HttpLimits& limits_;
    std::shared_ptr<HttpConnection> self_;  // while a worker has the request
    Phase phase_ = Phase::request;
    MonoTime deadline_{};  // of the phase
    HttpTimer timer_;
    MonoTime since_{};  // when the phase began, or when the peer last received a part of the response
    bool is_opened_;    // the handshake is over, or there is none
    bool is_receiving_ = false;
    bool is_resuming_ = false;  // resumed() continues
    bool is_last_ = false;      // nothing is read after the current response
    bool goes_first_ = false;   // the last request was for a prioritized path
    std::size_t requests_ = 0;

    // Input.
    std::array<char, receive_bytes> received_;
    std::string in_;
    std::size_t body_bytes_left_ = 0;   // to discard before the next request
    std::size_t body_bytes_taken_ = 0;  // reserved in the budget

    // The current request.
    HttpHead head_;
    HttpIdentity identity_;
    std::size_t head_bytes_ = 0;  // at the front of in_; 0 until the head is complete
    std::size_t body_bytes_ = 0;  // that the handler needs
    std::string path_;

    // Output.
    HttpReply out_;              // with a pull: without bytes unless they are being sent
    std::size_t out_sent_ = 0;   // of out_.bytes and out_.shared together
    bool has_response_ = false;  // out_.shared is reserved in the budget
    bool may_pull_ = false;      // out_.pull may have data
    bool is_streaming_ = false;  // reserved in the budget
    MonoTime comment_at_{};      // when a stream without data sends a comment
};

}  // namespace telegate
