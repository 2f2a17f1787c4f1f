#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct ssl_ctx_st;
struct ssl_st;

namespace telegate {

/// Files in PEM.
struct TlsPaths {
    std::string certificate = {};  // of the server, with the chain behind it; "": no TLS
    std::string key = {};
    std::string client_ca = {};  // who signs the certificates of clients; "": none are asked for
};

/// One connection's TLS. It never waits.
///
/// Threads: one at a time.
/// Limits:  OpenSSL's buffers, about 40 KiB while a connection is in use, given back while it is idle.
/// Failure: as the results say; after failed nothing more can be done.
class TlsSession {
  public:
    enum class Progress { some, none, failed };
    struct Moved {
        Progress progress;
        std::size_t bytes;
    };

    explicit TlsSession(ssl_st* session) noexcept;
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    /// some: done.
    [[nodiscard]] Progress handshake() noexcept;
    [[nodiscard]] Moved receive(char* bytes, std::size_t bytes_max) noexcept;
    [[nodiscard]] Moved send(std::string_view bytes) noexcept;
    /// Tells the peer that nothing follows.
    void end() noexcept;
    /// The name (CN) in the client's certificate; "" when it showed none. After the handshake.
    [[nodiscard]] std::string peer_name() const;

  private:
    [[nodiscard]] Progress progress_of(int result) const noexcept;

    ssl_st* const session_;
};

/// A certificate, its key and whose clients are known: what TLS connections are made with. TLS 1.2 or newer.
///
/// Threads: open() any.
/// Limits:  none of its own.
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

    /// For a connection that has been accepted, whose descriptor stays the caller's. Throws std::bad_alloc.
    [[nodiscard]] std::unique_ptr<TlsSession> open(int socket) const;

  private:
    ssl_ctx_st* context_ = nullptr;
};

}  // namespace telegate
