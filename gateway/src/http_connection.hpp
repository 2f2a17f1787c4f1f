#pragma once

#include "http_engine.hpp"

#include "core/clock.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace telegate {

/// Every number that a REST client could make grow, with its reason. Changed by tests only.
struct HttpLimits {
    std::size_t head_bytes_max = 16 * 1024;  // request line and fields; browsers with many cookies stay below 8 KiB
    std::size_t body_bytes_max = 64 * 1024;
    std::size_t connections_max = 64;  // each holds one answer at most; people, scrapers and scripts, not crowds
    std::size_t requests_max = 1'000;  // on one connection, so that even a busy one gives way now and then
    std::chrono::milliseconds request_time{5'000};    // for the whole of a request, however its bytes trickle
    std::chrono::milliseconds response_time{10'000};  // for the whole of a response
    std::chrono::milliseconds idle_time{15'000};      // between requests; costs a descriptor and nothing else
    std::chrono::milliseconds linger_time{1'000};  // for the peer to see the last response before the connection goes
};

/// One client: reads requests, answers them in order, never waits.
///
/// Threads: one at a time.
/// Limits:  see HttpLimits; a request is not read before the answer to the one before it has left.
/// Failure: a peer that goes away or breaks a limit ends its own connection only.
class HttpConnection {
  public:
    enum class Wants { read, write, close };

    /// Owns `socket`, which must be non-blocking.
    HttpConnection(int socket, const HttpLimits& limits, MonoTime now);
    ~HttpConnection();
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    /// Goes as far as it can and says what it needs to go on. `stopping`: the response in hand is the last one.
    [[nodiscard]] Wants serve(HttpEngine& engine, MonoTime now, bool stopping);
    /// When to give this connection up unless serve() has gone further.
    [[nodiscard]] MonoTime deadline() const noexcept { return deadline_; }
    [[nodiscard]] int socket() const noexcept { return socket_; }

  private:
    enum class Phase { request, idle, response, lingering };
    enum class Progress { some, none, failed };

    void start(Phase phase, MonoTime now);
    Progress receive();
    Progress flush();
    bool take_request(HttpEngine& engine, MonoTime now, bool stopping);
    void wait_for_request(MonoTime now);
    void refuse_long_head();
    void skip_body();

    const int socket_;
    const HttpLimits& limits_;
    Phase phase_ = Phase::request;
    MonoTime deadline_;
    std::string in_;
    std::string out_;
    std::size_t out_sent_ = 0;         // bytes of out_ that have left
    std::size_t body_bytes_left_ = 0;  // to throw away before the next request
    std::size_t requests_ = 0;
    bool last_ = false;  // nothing more is read after the response in hand
};

}  // namespace telegate
