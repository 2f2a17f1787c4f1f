#include "link/tls_session.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <limits>
#include <new>
#include <stdexcept>
#include <vector>

namespace telegate::uplink {
namespace {

template <class T, void (*destroy)(T*)>
struct SslDeleter {
    void operator()(T* object) const noexcept { destroy(object); }
};
using SslContext = std::unique_ptr<SSL_CTX, SslDeleter<SSL_CTX, SSL_CTX_free>>;
using SslHandle = std::unique_ptr<SSL, SslDeleter<SSL, SSL_free>>;
using BioHandle = std::unique_ptr<BIO, SslDeleter<BIO, BIO_free_all>>;
using CertificateHandle = std::unique_ptr<X509, SslDeleter<X509, X509_free>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, SslDeleter<EVP_PKEY, EVP_PKEY_free>>;

/// Returns the oldest error of OpenSSL on this thread, and forgets all of them.
std::string tls_error_text() {
    const unsigned long error = ::ERR_get_error();
    const char* const reason = ::ERR_reason_error_string(error);
    ::ERR_clear_error();
    return reason == nullptr ? "unknown error" : reason;
}

void check_tls(bool is_done, const std::string& what) {
    if (!is_done) {
        throw std::runtime_error(what + ": " + tls_error_text());
    }
}

/// Without this, OpenSSL would wait for a password at the terminal.
int no_password(char* /*to*/, int /*bytes_max*/, int /*is_written*/, void* /*context*/) {
    return -1;
}

BioHandle reader_of(const std::string& content) {
    BioHandle reader(::BIO_new_mem_buf(content.data(), static_cast<int>(content.size())));
    if (reader == nullptr) {
        throw std::bad_alloc();
    }
    return reader;
}

/// Returns at least one certificate.
std::vector<CertificateHandle> read_certificates(const AdapterFile& file) {
    std::vector<CertificateHandle> found;
    const BioHandle from = reader_of(file.content);
    while (X509* const each = ::PEM_read_bio_X509_AUX(from.get(), nullptr, no_password, nullptr)) {
        found.emplace_back(each);
    }
    const bool is_end = ERR_GET_REASON(::ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    check_tls(is_end && !found.empty(), "SSL Error: cannot read the certificates in " + file.path);
    ::ERR_clear_error();
    return found;
}

/// Uses the certificate of the client, those that follow it in its file, and its key.
void use_own_certificate(SSL_CTX* context, const AdapterSecrets& secrets) {
    const std::string what = "SSL Error: cannot use " + secrets.tls_certificate.path + " with " + secrets.tls_key.path;
    const std::vector<CertificateHandle> chain = read_certificates(secrets.tls_certificate);
    const KeyHandle key(
        ::PEM_read_bio_PrivateKey(reader_of(secrets.tls_key.content).get(), nullptr, no_password, nullptr));
    check_tls(key != nullptr && ::SSL_CTX_use_certificate(context, chain.front().get()) == 1 &&
                  ::SSL_CTX_use_PrivateKey(context, key.get()) == 1,
              what);
    for (std::size_t i = 1; i < chain.size(); ++i) {  // SSL_CTX_add1_chain_cert() without its cast
        check_tls(::SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, chain[i].get()) == 1, what);
    }
}

SslContext make_context(const AdapterSecrets& secrets) {
    SslContext context(::SSL_CTX_new(::TLS_client_method()));
    if (context == nullptr) {
        throw std::bad_alloc();
    }
    ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    // While it renegotiates, a session would accept no data.
    ::SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (secrets.tls_ca.path.empty()) {
        check_tls(::SSL_CTX_set_default_verify_paths(context.get()) == 1, "cannot read the certificates of the system");
    } else {
        for (const CertificateHandle& each : read_certificates(secrets.tls_ca)) {
            check_tls(::X509_STORE_add_cert(::SSL_CTX_get_cert_store(context.get()), each.get()) == 1, "SSL Error");
        }
    }
    if (!secrets.tls_certificate.path.empty()) {
        use_own_certificate(context.get(), secrets);
    }
    return context;
}

bool is_address(const std::string& host) {
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

/// Requires that the certificate of the server is valid for the host.
void expect_host(SSL* ssl, const std::string& host) {
    X509_VERIFY_PARAM* const wanted = ::SSL_get0_param(ssl);
    if (is_address(host)) {
        check_tls(::X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1, "SSL Error");
        return;
    }
    check_tls(::X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size()) == 1, "SSL Error");
    std::string name = host;  // SSL_set_tlsext_host_name() without its cast
    check_tls(::SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) == 1, "SSL Error");
}

}  // namespace

struct TlsSession::Parts {
    SslContext context;
    SslHandle ssl;
    BIO* in = nullptr;  // owned by ssl, like the next one
    BIO* out = nullptr;

    /// Throws if a call of OpenSSL has failed for another reason than that more bytes are needed.
    void check(int result) const {
        const int error = ::SSL_get_error(ssl.get(), result);
        if (result > 0 || error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
            return;
        }
        if (error == SSL_ERROR_ZERO_RETURN) {
            throw std::runtime_error("the server closed the connection");
        }
        const long verified = ::SSL_get_verify_result(ssl.get());
        const std::string why =
            verified == X509_V_OK ? "" : std::string(": ") + ::X509_verify_cert_error_string(verified);
        throw std::runtime_error("SSL Error: " + tls_error_text() + why);
    }
};

TlsSession::TlsSession(const AdapterSecrets& secrets, const std::string& host) : parts_(std::make_unique<Parts>()) {
    ::ERR_clear_error();
    parts_->context = make_context(secrets);
    parts_->ssl.reset(::SSL_new(parts_->context.get()));
    parts_->in = ::BIO_new(::BIO_s_mem());
    parts_->out = ::BIO_new(::BIO_s_mem());
    if (parts_->ssl == nullptr || parts_->in == nullptr || parts_->out == nullptr) {
        ::BIO_free(parts_->in);
        ::BIO_free(parts_->out);
        throw std::bad_alloc();
    }
    ::SSL_set_bio(parts_->ssl.get(), parts_->in, parts_->out);
    expect_host(parts_->ssl.get(), host);
    ::SSL_set_connect_state(parts_->ssl.get());
    parts_->check(::SSL_do_handshake(parts_->ssl.get()));
}

TlsSession::~TlsSession() = default;

void TlsSession::receive(std::string_view encrypted, std::string& plain) {
    ::ERR_clear_error();
    if (::BIO_write(parts_->in, encrypted.data(), static_cast<int>(encrypted.size())) !=
        static_cast<int>(encrypted.size())) {
        throw std::bad_alloc();
    }
    if (!is_established_) {
        const int result = ::SSL_do_handshake(parts_->ssl.get());
        parts_->check(result);
        is_established_ = result == 1;
        if (!is_established_) {
            return;
        }
    }
    std::array<char, 16'384> buffer{};
    int result = 0;
    while ((result = ::SSL_read(parts_->ssl.get(), buffer.data(), static_cast<int>(buffer.size()))) > 0) {
        plain.append(buffer.data(), static_cast<std::size_t>(result));
    }
    parts_->check(result);
}

bool TlsSession::is_closed() const noexcept {
    return (::SSL_get_shutdown(parts_->ssl.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

void TlsSession::send(std::string_view plain) {
    ::ERR_clear_error();
    if (!plain.empty() && ::SSL_write(parts_->ssl.get(), plain.data(), static_cast<int>(plain.size())) <= 0) {
        throw std::runtime_error("SSL Error: " + tls_error_text());
    }
}

void TlsSession::take_output(std::string& to) {
    std::array<char, 16'384> buffer{};
    int bytes = 0;
    while ((bytes = ::BIO_read(parts_->out, buffer.data(), static_cast<int>(buffer.size()))) > 0) {
        to.append(buffer.data(), static_cast<std::size_t>(bytes));
    }
}

}  // namespace telegate::uplink
