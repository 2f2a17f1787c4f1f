#include "http/tls_context.hpp"

#include "http/http_socket.hpp"

#include <new>
#include <stdexcept>

// Replaces tls_context.cpp in builds without OpenSSL.
namespace telegate {

const bool TlsContext::available = false;

struct TlsContext::Native {};

TlsContext::TlsContext(const TlsPaths& paths, bool /*certificate_needed*/) {
    throw std::runtime_error(paths.certificate + ": this build does not support TLS");
}

TlsContext::~TlsContext() = default;

std::unique_ptr<HttpSocket> TlsContext::open(boost::asio::io_context& /*io*/, UniqueFd /*descriptor*/,
                                             Handshake /*handshake*/) const {
    throw std::bad_alloc();
}

}  // namespace telegate
