#pragma once

#include "http/http_budget.hpp"
#include "http/http_calls.hpp"
#include "http/http_head.hpp"
#include "http/http_reply.hpp"
#include "http/http_socket.hpp"
#include "http/http_stream.hpp"

#include "core/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {

/// How much a connection deserves its place when all are taken: the one with the least claim gives way.
struct HttpClaim {
    enum class Standing : std::uint8_t {
        stuck,    // its client does not take the response
        resting,  // between requests, or at its end
        taking,   // a response
        asking,   // has connected, or sent a part of a request
        first,    // has asked for something that goes first
    };
    Standing standing = Standing::stuck;
    MonoTime time{};  // of several, the earliest gives way

    bool operator<(const HttpClaim& other) const noexcept {
        return standing != other.standing ? standing < other.standing : time < other.time;
    }
};

/// What connections need of their server. It outlives them.
class HttpHost {
  public:
    HttpHost(const HttpLimits& limits, HttpCalls given) : calls(std::move(given)), budget(limits) {}
    virtual ~HttpHost() = default;
    HttpHost(const HttpHost&) = delete;
    HttpHost& operator=(const HttpHost&) = delete;

    /// When a worker is free, calls begin_answer(), then answer() on that worker, then end_answer().
    virtual void queue(std::shared_ptr<HttpConnection> connection) = 0;
    /// Calls at_due() then.
    virtual void note_due(MonoTime due) noexcept = 0;
    virtual void note_stream_begun() noexcept = 0;
    /// From the destructor.
    virtual void forget(const HttpConnection& connection) noexcept = 0;
    [[nodiscard]] virtual bool is_stopping() const noexcept = 0;

    const HttpCalls calls;
    HttpBudget budget;
};

/// One client: reads requests and answers them in order. While an operation of its socket or an answer is outstanding,
/// that keeps it alive.
///
/// Threads: the I/O thread, but for answer().
/// Limits:  see HttpLimits; nothing is read between a request and the end of the answer to it, but on streams.
/// Failure: a peer that goes away or breaks a limit, a stream's source that throws, and lack of memory end this
///          connection only.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
  public:
    HttpConnection(std::unique_ptr<HttpSocket> socket, HttpPeer peer, HttpHost& host);
    ~HttpConnection();
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    void open();
    /// Idempotent.
    void close() noexcept;
    /// Whether its request still waits for a worker; then one is about to call answer().
    [[nodiscard]] bool begin_answer() noexcept;
    /// Asks the handler. Threads: a worker.
    void answer() noexcept;
    void end_answer() noexcept;
    /// There may be something new for its stream.
    void wake_stream() noexcept;
    /// Sends the end of a stream, as far as that goes at once, and closes.
    void finish() noexcept;
    /// To be called at due().
    void at_due(MonoTime now) noexcept;

    [[nodiscard]] MonoTime due() const noexcept;
    [[nodiscard]] bool is_open() const noexcept { return phase_ != Phase::closed; }
    [[nodiscard]] bool is_streaming() const noexcept { return stream_.has_value(); }
    /// nullopt: it does not give way now.
    [[nodiscard]] std::optional<HttpClaim> claim(MonoTime now) const noexcept;

  private:
    enum class Phase { request, queued, answering, idle, response, streaming, lingering, closed };
    static constexpr std::size_t receive_bytes = 4 * 1024;  // most requests are shorter

    void start(Phase phase);
    [[nodiscard]] HttpDone done(void (HttpConnection::*next)(bool, std::size_t));
    template <typename Action>
    void guarded(const Action& action) noexcept;

    // Ends of operations.
    void opened(bool ok, std::size_t bytes);
    void received(bool ok, std::size_t bytes);
    void sent(bool ok, std::size_t bytes);
    void ended(bool ok, std::size_t bytes);

    void go_on();
    void receive();
    void send();
    void add_piece();
    void begin_stream();
    bool fill_stream();
    void linger();

    bool take_request();
    bool take_head(std::size_t head_bytes);
    bool wait_for_body(std::size_t head_bytes);
    void wait_for_request();
    void skip_body();
    void take_response();
    void drop_response() noexcept;
    void refuse(int status, std::string detail);
    [[nodiscard]] HttpResponse ask_handler();
    [[nodiscard]] std::string_view field(std::string_view name);

    const std::unique_ptr<HttpSocket> socket_;
    HttpPeer peer_;
    HttpHost& host_;
    const HttpLimits& limits_;
    Phase phase_ = Phase::request;
    MonoTime deadline_{};
    MonoTime taken_at_{};  // when the peer last took something of a response, or that was begun
    bool is_receiving_ = false;
    bool is_sending_ = false;
    bool is_last_ = false;     // nothing more is read after the response in hand
    bool goes_first_ = false;  // its last request does
    std::size_t requests_ = 0;

    // What has come.
    std::array<char, receive_bytes> received_;
    std::string in_;
    std::size_t body_bytes_left_ = 0;   // to throw away before the next request
    std::size_t wanted_bytes_ = 0;      // head and body that must be there before the head is read again
    std::size_t body_bytes_taken_ = 0;  // of the budget

    // The request in hand; its texts are in in_.
    HttpHead head_;
    HttpIdentity identity_;
    std::string_view body_;
    std::string path_;
    std::size_t head_bytes_ = 0;
    std::forward_list<std::string> joined_;  // fields that came several times

    // What goes out.
    HttpReply out_;
    std::size_t out_sent_ = 0;   // of out_.bytes and out_.shared together
    bool has_response_ = false;  // out_.shared is of the budget
    std::optional<HttpStream> stream_;
};

}  // namespace telegate
