#pragma once

#include "core/unique_fd.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace telegate {

class HttpConnection;

/// A completion handler of Asio. Keeps the connection alive until it is called.
struct HttpDone {
    std::shared_ptr<HttpConnection> connection;
    void (HttpConnection::*next)(bool ok, std::size_t bytes);

    void operator()(const boost::system::error_code& error = {}, std::size_t bytes = 0) const {
        ((*connection).*next)(!error, bytes);
    }
};

using HttpBuffers = std::array<boost::asio::const_buffer, 2>;

/// The byte stream of one client, plain or TLS. Operations never block and never call `done` before they return.
///
/// Threads: the I/O thread.
/// Limits: one operation of each kind at a time; the caller keeps the bytes valid until `done`.
/// Failure: `done` receives an error; after that only close() may be called.
class HttpSocket {
  public:
    HttpSocket() = default;
    virtual ~HttpSocket() = default;
    HttpSocket(const HttpSocket&) = delete;
    HttpSocket& operator=(const HttpSocket&) = delete;

    /// Prepares the stream for receiving, for example with a TLS handshake.
    virtual void open(HttpDone done) = 0;
    /// Receives some bytes. Also fails if the peer has closed its side.
    virtual void receive(std::span<char> bytes, HttpDone done) = 0;
    /// Sends some of the bytes; at least one buffer must be non-empty.
    virtual void send(const HttpBuffers& bytes, HttpDone done) = 0;
    /// Shuts down sending. receive() still returns what the peer sends.
    virtual void end(HttpDone done) = 0;
    /// Cancels all operations; data already sent is still delivered. Idempotent.
    virtual void close() noexcept = 0;
    /// Returns whether open() waits for the peer.
    [[nodiscard]] virtual bool has_handshake() const noexcept { return false; }
    /// Returns the common name (CN) of the verified client certificate, "" if there is none.
    [[nodiscard]] virtual std::string peer_name() const { return {}; }
};

/// A connected TCP or Unix socket.
using StreamSocket =
    boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, boost::asio::io_context::executor_type>;

/// Takes ownership of a connected socket.
[[nodiscard]] StreamSocket stream_socket(boost::asio::io_context& io, UniqueFd descriptor);

/// Creates a plain connection from a connected stream socket. Throws std::bad_alloc or boost::system::system_error.
[[nodiscard]] std::unique_ptr<HttpSocket> make_plain_socket(boost::asio::io_context& io, UniqueFd descriptor);

}  // namespace telegate
