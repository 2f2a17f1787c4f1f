#pragma once

#include "http/http_budget.hpp"
#include "http/http_engine.hpp"
#include "http/http_socket.hpp"
#include "http/http_stream.hpp"

#include "core/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace telegate {

/// What a connection has to say for its place when all are taken: the one with the least claim gives way.
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

/// One client: reads requests, answers them in order, never waits.
///
/// Threads: one at a time.
/// Limits:  see HttpLimits; a request is not read before the answer to the one before it has left.
/// Failure: a peer that goes away or breaks a limit ends its own connection only.
class HttpConnection {
  public:
    enum class Wants {
        news,   // from the socket: bytes, or room for them
        again,  // to go on after others have had their turn
        turn,   // with may_answer: a whole request has come
        close
    };
    struct Turn {
        MonoTime now;
        bool stopping = false;   // the response in hand is the last one
        bool ended = false;      // the peer has closed its side, or the connection has broken
        bool may_answer = true;  // otherwise only requests that go first are answered
    };

    HttpConnection(std::unique_ptr<HttpSocket> socket, HttpPeer peer, HttpBudget& budget, MonoTime now);
    ~HttpConnection();
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    /// Goes as far as it can: until the socket has nothing more to give or to take, which an edge-triggered wait needs.
    [[nodiscard]] Wants serve(HttpEngine& engine, const Turn& turn);
    /// There may be something new for its stream.
    void wake_stream() noexcept;
    /// Ends a stream in good order, as far as that goes at once.
    void end_stream(MonoTime now) noexcept;

    [[nodiscard]] bool streaming() const noexcept { return stream_.has_value(); }
    /// When to give this connection up unless serve() has gone further.
    [[nodiscard]] MonoTime deadline() const noexcept { return phase_ == Phase::queued ? MonoTime::max() : deadline_; }
    /// When serve() has something to do that no event tells of.
    [[nodiscard]] MonoTime speaks_at() const noexcept;
    [[nodiscard]] HttpClaim claim(MonoTime now) const noexcept;
    [[nodiscard]] int descriptor() const noexcept { return socket_->descriptor(); }

  private:
    enum class Phase { request, queued, idle, response, streaming, lingering };
    enum class Step { forward, again, stay, queue, close };
    using Progress = HttpSocket::Progress;

    void start(Phase phase, MonoTime now);
    [[nodiscard]] Step open();
    [[nodiscard]] Step step(HttpEngine& engine, const Turn& turn);
    [[nodiscard]] Step receive();
    [[nodiscard]] Step flush(MonoTime now);
    void forget_sent();
    bool take_request(HttpEngine& engine, const Turn& turn);
    bool answer(HttpEngine& engine, const Turn& turn, std::size_t head_bytes);
    bool wait_for_body(const HttpOutcome& outcome, MonoTime now);
    bool wait_in_queue(MonoTime now);
    void take_response();
    void drop_response() noexcept;
    void add_piece();
    void begin_stream(MonoTime now);
    void fill_stream(MonoTime now);
    void wait_for_request(MonoTime now);
    void refuse(int status, std::string detail);
    void refuse_long_head();
    void skip_body();

    const std::unique_ptr<HttpSocket> socket_;
    HttpPeer peer_;
    HttpBudget& budget_;
    Phase phase_ = Phase::request;
    MonoTime deadline_;
    MonoTime taken_at_{};  // when the peer last took something of a response, or that was begun
    std::string in_;
    HttpReply out_;
    std::size_t out_sent_ = 0;          // of out_.bytes and out_.shared together
    std::size_t body_bytes_left_ = 0;   // to throw away before the next request
    std::size_t wanted_bytes_ = 0;      // head and body that must be there before the engine is asked again
    std::size_t body_bytes_taken_ = 0;  // of the budget
    bool has_response_ = false;         // out_.shared is of the budget
    std::size_t requests_ = 0;
    std::optional<HttpStream> stream_;
    bool goes_first_ = false;  // its last request does
    bool opened_ = false;
    bool drained_ = false;  // the socket has given all that it had
    bool last_ = false;     // nothing more is read after the response in hand
};

}  // namespace telegate
