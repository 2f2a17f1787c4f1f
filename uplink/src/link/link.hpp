#pragma once

#include "core/host_lookup.hpp"
#include "link/tls_session.hpp"
#include "uplink/adapter.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::uplink {

/// A connection to a server, with or without TLS, in an event loop. Nothing blocks: not the lookup of the host, not the
/// connection, not the handshake. There is no time limit: the caller closes what takes too long.
///
/// Threads: the loop's.
/// Limits:  one connection; the bytes that were passed to write() and not written yet. A server that does not read
///          response_bytes_max bytes of responses, to what it sends over TLS or by respond(), is disconnected.
/// Failure: ended() has the reason; afterwards, the link is closed. open() and write() throw std::bad_alloc.
class Link {
  public:
    static constexpr std::uint64_t response_bytes_max = 65'536;  // since the first of them that may not be written yet

    /// Why a link has ended.
    enum class End : std::uint8_t {
        refused,  // no program listens at the address
        closed,   // by the server
        failed,
    };
    /// Each may close the link. Called by the loop, never from within a function of the link but secure().
    struct Events {
        std::function<void()> opened;   // connected, not encrypted
        std::function<void()> secured;  // encrypted
        std::function<void(std::string_view bytes)> received;
        std::function<void(const std::string& reason, End end)> ended;
    };
    Link(AdapterLoop& loop, Events events);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    void open(const std::string& host, const std::string& port);
    /// Begins TLS. Throws std::runtime_error if the files cannot be used. Only while opened.
    void secure(const AdapterSecrets& secrets, const std::string& host);
    /// Sends bytes as soon as the connection accepts them. Only while opened.
    void write(std::string_view bytes);
    /// Like write(), for what the server has requested. Returns false if it does not read the responses.
    [[nodiscard]] bool respond(std::string_view bytes);
    [[nodiscard]] bool is_secure() const noexcept { return tls_ != nullptr; }
    void close() noexcept;

  private:
    void lookup_done();
    void connect_next();
    void wait_for_connection();
    void connect_done();
    void read();
    [[nodiscard]] bool receive(std::string_view bytes);
    void flush();
    void want_write();
    [[nodiscard]] bool may_respond(std::uint64_t queued_before) noexcept;
    [[nodiscard]] std::size_t unwritten_bytes() const noexcept { return out_.size() - written_; }
    /// Returns how many bytes are written once everything is.
    [[nodiscard]] std::uint64_t queued_bytes() const noexcept { return all_written_ + unwritten_bytes(); }
    void end(const std::string& reason, End end = End::failed);

    AdapterLoop& loop_;
    const Events events_;
    std::unique_ptr<HostLookup> lookup_;
    std::vector<HostAddress> addresses_;  // to try, the last one first
    std::string connect_error_;           // of the last address; "": none was tried
    bool was_refused_ = false;            // by the last address
    int socket_ = -1;
    std::uint64_t session_ = 0;  // changes when the link is closed
    std::unique_ptr<TlsSession> tls_;
    std::string out_;
    std::size_t written_ = 0;        // bytes of out_
    std::uint64_t all_written_ = 0;  // bytes of this connection
    std::uint64_t response_bytes_ = 0;
    std::uint64_t responses_begin_ = 0;  // once all_written_ is as much, the first of them is written
    bool is_write_wanted_ = false;
};

}  // namespace telegate::uplink
