#pragma once

#include "core/unique_fd.hpp"

#include <memory>
#include <string>

namespace boost::asio {
class io_context;
}

namespace telegate {

class HttpSocket;
class TlsHandshakes;

/// Paths of PEM files.
struct TlsPaths {
    std::string certificate = {};  // of the server, followed by its chain; "": no TLS
    std::string key = {};
    std::string client_ca = {};  // CA that signs client certificates; "": client certificates are not requested
};

/// The parameters of TLS connections: certificate, key and the CA of the clients. TLS 1.2 or newer.
///
/// Threads: open() the I/O thread.
/// Limits: about 70 KiB per connection.
/// Failure: the constructor throws std::runtime_error, which names the file and the fault.
class TlsContext {
  public:
    /// Loads the files. `certificate_needed`: the handshake refuses clients without a certificate; only used with a
    /// client_ca.
    TlsContext(const TlsPaths& paths, bool certificate_needed);
    ~TlsContext();
    TlsContext(const TlsContext&) = delete;
    TlsContext& operator=(const TlsContext&) = delete;

    /// The thread of the handshakes, which outlives the socket, and the client that a connection counts as; see
    /// client_of().
    struct Handshake {
        TlsHandshakes& thread;
        std::string client;
    };
    /// Returns a TLS socket for an accepted connection. It may outlive this object. Throws std::bad_alloc.
    [[nodiscard]] std::unique_ptr<HttpSocket> open(boost::asio::io_context& io, UniqueFd descriptor,
                                                   Handshake handshake) const;

  private:
    struct Native;
    std::unique_ptr<Native> native_;
};

}  // namespace telegate
