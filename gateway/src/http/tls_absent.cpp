#include "http/tls_context.hpp"

#include <new>
#include <stdexcept>

// In place of tls_context.cpp where the gateway is built without OpenSSL.
namespace telegate {

const bool TlsContext::available = false;

TlsContext::TlsContext(const TlsPaths& paths, bool /*certificate_needed*/) {
    throw std::runtime_error(paths.certificate + ": this build does not speak TLS");
}

TlsContext::~TlsContext() = default;

std::unique_ptr<TlsSession> TlsContext::open(int /*socket*/) const {
    throw std::bad_alloc();
}

TlsSession::TlsSession(ssl_st* session) noexcept : session_(session) {}

TlsSession::~TlsSession() = default;

TlsSession::Progress TlsSession::handshake() noexcept {
    return Progress::failed;
}

TlsSession::Moved TlsSession::receive(char* /*bytes*/, std::size_t /*bytes_max*/) noexcept {
    return {Progress::failed, 0};
}

TlsSession::Moved TlsSession::send(std::string_view /*bytes*/) noexcept {
    return {Progress::failed, 0};
}

void TlsSession::end() noexcept {}

std::string TlsSession::peer_name() const {
    return {};
}

}  // namespace telegate
