#pragma once

#include "uplink/adapter_module.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// The client's side of a TLS connection, with OpenSSL. It does no I/O: encrypted bytes are passed to it and taken from
/// it. The certificate of the server must be valid for the name of the host.
///
/// Threads: one.
/// Limits:  those of OpenSSL: a record of 16 KiB, certificates of 100 KiB; besides, what is not taken yet.
/// Failure: all functions throw std::runtime_error with the reason, after which the session cannot be used.
class TlsSession {
  public:
    TlsSession(const AdapterSecrets& secrets, const std::string& host);
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    /// Appends what `encrypted` contains to `plain`.
    void receive(std::string_view encrypted, std::string& plain);
    /// Encrypts a text. Only while is_established().
    void send(std::string_view plain);
    /// Appends the encrypted bytes for the server to `to`.
    void take_output(std::string& to);
    /// Whether the handshake is complete.
    [[nodiscard]] bool is_established() const noexcept { return is_established_; }
    /// Whether the server has ended the session as the protocol requires.
    [[nodiscard]] bool is_closed() const noexcept;

  private:
    struct Parts;  // the objects of OpenSSL

    const std::unique_ptr<Parts> parts_;
    bool is_established_ = false;
};

}  // namespace telegate::uplink
