#include "http/tls_context.hpp"

#include "base/file_fault.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <climits>
#include <new>
#include <stdexcept>

namespace telegate {
namespace {

constexpr std::size_t record_bytes_max = 16 * 1024;

[[noreturn]] void fail_with_tls(const std::string& what) {
    const unsigned long code = ERR_peek_last_error();
    const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    ERR_clear_error();
    throw std::runtime_error(what + (reason == nullptr ? "" : ": " + std::string(reason)));
}

void check_file(const std::string& path, FileHolds what) {
    if (const std::string fault = file_fault(path, what); !fault.empty()) {
        throw std::runtime_error(fault);
    }
}

}  // namespace

const bool TlsContext::available = true;

TlsSession::TlsSession(ssl_st* session) noexcept : session_(session) {}

TlsSession::~TlsSession() {
    ::SSL_free(session_);
}

TlsSession::Progress TlsSession::progress_of(int result) const noexcept {
    const int error = ::SSL_get_error(session_, result);
    // Whatever is left in this thread's queue of errors would be taken for the next connection's.
    ERR_clear_error();
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? Progress::none : Progress::failed;
}

TlsSession::Progress TlsSession::handshake() noexcept {
    const int result = ::SSL_accept(session_);
    return result == 1 ? Progress::some : progress_of(result);
}

TlsSession::Moved TlsSession::receive(char* bytes, std::size_t bytes_max) noexcept {
    std::size_t received = 0;
    const int result = ::SSL_read_ex(session_, bytes, bytes_max, &received);
    return result == 1 ? Moved{Progress::some, received} : Moved{progress_of(result), 0};
}

TlsSession::Moved TlsSession::send(std::string_view bytes) noexcept {
    std::size_t sent = 0;
    const int result = ::SSL_write_ex(session_, bytes.data(), std::min(bytes.size(), record_bytes_max), &sent);
    return result == 1 ? Moved{Progress::some, sent} : Moved{progress_of(result), 0};
}

void TlsSession::end() noexcept {
    ::SSL_shutdown(session_);
    ERR_clear_error();
}

std::string TlsSession::peer_name() const {
    X509* const certificate = ::SSL_get0_peer_certificate(session_);
    if (certificate == nullptr || ::SSL_get_verify_result(session_) != X509_V_OK) {
        return {};
    }
    std::array<char, 256> name{};
    const int bytes = ::X509_NAME_get_text_by_NID(::X509_get_subject_name(certificate), NID_commonName, name.data(),
                                                  static_cast<int>(name.size()));
    return bytes > 0 ? std::string(name.data()) : std::string("unnamed");
}

TlsContext::TlsContext(const TlsPaths& paths, bool certificate_needed)
    : context_(::SSL_CTX_new(::TLS_server_method())) {
    if (context_ == nullptr) {
        fail_with_tls("OpenSSL cannot be used");
    }
    try {
        ::SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
        // Each of these costs the daemon memory or time that a client decides about; none is needed by a few clients.
        ::SSL_CTX_set_options(context_, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                            SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
        ::SSL_CTX_set_num_tickets(context_, 0);
        ::SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
        ::SSL_CTX_set_mode(
            context_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
        check_file(paths.certificate, FileHolds::anything);
        if (::SSL_CTX_use_certificate_chain_file(context_, paths.certificate.c_str()) != 1) {
            fail_with_tls(paths.certificate + ": not a certificate in PEM that can be read");
        }
        check_file(paths.key, FileHolds::secret);
        if (::SSL_CTX_use_PrivateKey_file(context_, paths.key.c_str(), SSL_FILETYPE_PEM) != 1) {
            fail_with_tls(paths.key + ": not the key of " + paths.certificate);
        }
        if (!paths.client_ca.empty()) {
            check_file(paths.client_ca, FileHolds::anything);
            if (::SSL_CTX_load_verify_locations(context_, paths.client_ca.c_str(), nullptr) != 1) {
                fail_with_tls(paths.client_ca + ": holds no certificate in PEM that can be read");
            }
            ::SSL_CTX_set_client_CA_list(context_, ::SSL_load_client_CA_file(paths.client_ca.c_str()));
            ::SSL_CTX_set_verify(context_, SSL_VERIFY_PEER | (certificate_needed ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                                 nullptr);
        }
    } catch (...) {
        ::SSL_CTX_free(context_);
        throw;
    }
}

TlsContext::~TlsContext() {
    ::SSL_CTX_free(context_);
}

std::unique_ptr<TlsSession> TlsContext::open(int socket) const {
    ssl_st* const session = ::SSL_new(context_);
    if (session == nullptr || ::SSL_set_fd(session, socket) != 1) {
        ::SSL_free(session);
        ERR_clear_error();
        throw std::bad_alloc();
    }
    return std::make_unique<TlsSession>(session);
}

}  // namespace telegate
