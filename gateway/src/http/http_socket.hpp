#pragma once

#include "core/unique_fd.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace boost::asio {
class io_context;
}

namespace telegate {

using HttpIo = boost::asio::io_context;

class HttpConnection;

/// Called when an operation has ended. Keeps the connection alive until then.
struct HttpDone {
    std::shared_ptr<HttpConnection> connection;
    void (HttpConnection::*next)(bool ok, std::size_t bytes);

    void operator()(bool ok, std::size_t bytes = 0) const { ((*connection).*next)(ok, bytes); }
};

/// The byte stream of one client, plain or TLS. An operation never blocks and never calls `done` before it returns.
///
/// Threads: the I/O thread.
/// Limits:  one operation of each kind at a time; the bytes stay with the caller until `done`.
/// Failure: `done` gets ok = false; after that only close() is of use.
class HttpSocket {
  public:
    HttpSocket() = default;
    virtual ~HttpSocket() = default;
    HttpSocket(const HttpSocket&) = delete;
    HttpSocket& operator=(const HttpSocket&) = delete;

    /// Does what must be done before the first byte can be received, such as a TLS handshake.
    virtual void open(HttpDone done) = 0;
    /// Receives some bytes. Not ok also when the peer sends nothing more.
    virtual void receive(std::span<char> bytes, HttpDone done) = 0;
    /// Sends some of `first` followed by `second`; not both may be empty.
    virtual void send(std::string_view first, std::string_view second, HttpDone done) = 0;
    /// Tells the peer that nothing more is sent. Then receive() gives what it still sends.
    virtual void end(HttpDone done) = 0;
    /// Ends all operations; what was sent still leaves. Idempotent.
    virtual void close() noexcept = 0;
    /// The name (CN) in the client's verified certificate; "" when there is none.
    [[nodiscard]] virtual std::string peer_name() const { return {}; }
};

/// A plain connection of a connected stream socket. Throws std::bad_alloc or boost::system::system_error.
[[nodiscard]] std::unique_ptr<HttpSocket> make_plain_socket(HttpIo& io, UniqueFd descriptor);

}  // namespace telegate
