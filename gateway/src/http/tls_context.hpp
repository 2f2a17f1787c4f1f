#pragma once

#include "core/unique_fd.hpp"
#include "http/http_socket.hpp"

#include <memory>
#include <string>

namespace telegate {

/// Files in PEM.
struct TlsPaths {
    std::string certificate = {};  // of the server, with the chain behind it; "": no TLS
    std::string key = {};
    std::string client_ca = {};  // who signs the certificates of clients; "": none are asked for
};

/// A certificate, its key and whose clients are known: what TLS connections are made with. TLS 1.2 or newer.
///
/// Threads: open() the I/O thread.
/// Limits:  about 70 KiB for each connection.
/// Failure: the constructor throws std::runtime_error that names the file and what is wrong with it.
class TlsContext {
  public:
    /// Whether this build speaks TLS.
    static const bool available;

    /// `certificate_needed`: clients without a certificate are refused in the handshake. Meaningful with a client_ca.
    TlsContext(const TlsPaths& paths, bool certificate_needed);
    ~TlsContext();
    TlsContext(const TlsContext&) = delete;
    TlsContext& operator=(const TlsContext&) = delete;

    /// For a connection that has been accepted. It may outlive this. Throws std::bad_alloc.
    [[nodiscard]] std::unique_ptr<HttpSocket> open(HttpIo& io, UniqueFd descriptor) const;

  private:
    struct Native;
    std::unique_ptr<Native> native_;
};

}  // namespace telegate
