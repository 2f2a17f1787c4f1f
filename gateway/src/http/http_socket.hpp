#pragma once

#include "core/unique_fd.hpp"
#include "http/tls_context.hpp"

#include <cstddef>
#include <memory>
#include <string_view>

namespace telegate {

/// The bytes of one client, plain or through TLS, never waiting.
///
/// Threads: one at a time.
/// Limits:  none of its own.
/// Failure: as the results say.
class HttpSocket {
  public:
    using Progress = TlsSession::Progress;
    using Moved = TlsSession::Moved;

    /// `descriptor` must be non-blocking. `tls`: none for a plain connection.
    HttpSocket(UniqueFd descriptor, std::unique_ptr<TlsSession> tls) noexcept;

    /// some: the connection can be used.
    [[nodiscard]] Progress open() noexcept;
    /// failed also when the peer will send nothing more.
    [[nodiscard]] Moved receive(char* bytes, std::size_t bytes_max) const noexcept;
    /// One after the other, as much as there is room for.
    [[nodiscard]] Moved send(std::string_view first, std::string_view second) const noexcept;
    /// Nothing more is sent.
    void end() noexcept;

    /// Whether a receive() of less than was asked for has taken all that had come.
    [[nodiscard]] bool short_is_all() const noexcept { return tls_ == nullptr; }
    [[nodiscard]] const TlsSession* tls() const noexcept { return tls_.get(); }
    [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

  private:
    const UniqueFd descriptor_;
    const std::unique_ptr<TlsSession> tls_;
    bool open_;
};

}  // namespace telegate
