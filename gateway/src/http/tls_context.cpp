#include "http/tls_context.hpp"

#include "base/file_fault.hpp"
#include "http/http_socket.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <array>
#include <stdexcept>

namespace telegate {
namespace {

namespace ssl = boost::asio::ssl;

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

class TlsSocket final : public HttpSocket {
  public:
    TlsSocket(boost::asio::io_context& io, UniqueFd descriptor, ssl::context& context)
        : stream_(stream_socket(io, std::move(descriptor)), context) {}

    void open(HttpDone done) override { stream_.async_handshake(ssl::stream_base::server, std::move(done)); }
    void receive(std::span<char> bytes, HttpDone done) override {
        const boost::asio::mutable_buffer buffer(bytes.data(), bytes.size());
        if (has_ended_) {  // the data is discarded, so it need not be decrypted
            stream_.next_layer().async_read_some(buffer, std::move(done));
        } else {
            stream_.async_read_some(buffer, std::move(done));
        }
    }
    void send(const HttpBuffers& bytes, HttpDone done) override { stream_.async_write_some(bytes, std::move(done)); }
    void end(HttpDone done) override {
        stream_.async_shutdown([this, done = std::move(done)](const boost::system::error_code& /*refused*/) {
            has_ended_ = true;
            boost::system::error_code ignored;
            stream_.next_layer().shutdown(StreamSocket::shutdown_send, ignored);
            done();
        });
    }
    void close() noexcept override {
        boost::system::error_code ignored;
        stream_.next_layer().close(ignored);
    }
    [[nodiscard]] std::string peer_name() const override {
        // Asio has no const access to the handle; nothing is modified.
        ::ssl_st* const session = const_cast<ssl::stream<StreamSocket>&>(stream_).native_handle();
        X509* const certificate = ::SSL_get0_peer_certificate(session);
        if (certificate == nullptr || ::SSL_get_verify_result(session) != X509_V_OK) {
            return {};
        }
        std::array<char, 256> name{};
        const int bytes = ::X509_NAME_get_text_by_NID(::X509_get_subject_name(certificate), NID_commonName, name.data(),
                                                      static_cast<int>(name.size()));
        return bytes > 0 ? std::string(name.data()) : std::string("unnamed");
    }

  private:
    ssl::stream<StreamSocket> stream_;
    bool has_ended_ = false;
};

}  // namespace

const bool TlsContext::available = true;

struct TlsContext::Native {
    ssl::context context{ssl::context::tls_server};
};

TlsContext::TlsContext(const TlsPaths& paths, bool certificate_needed) : native_(std::make_unique<Native>()) {
    ssl_ctx_st* const context = native_->context.native_handle();
    ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    // Each of these features lets a client use memory or CPU time of the daemon; none is needed for a few clients.
    ::SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                       SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
    ::SSL_CTX_set_num_tickets(context, 0);
    ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    check_file(paths.certificate, FileHolds::anything);
    if (::SSL_CTX_use_certificate_chain_file(context, paths.certificate.c_str()) != 1) {
        fail_with_tls(paths.certificate + ": not a readable PEM certificate");
    }
    check_file(paths.key, FileHolds::secret);
    if (::SSL_CTX_use_PrivateKey_file(context, paths.key.c_str(), SSL_FILETYPE_PEM) != 1) {
        fail_with_tls(paths.key + ": not the private key of " + paths.certificate);
    }
    if (!paths.client_ca.empty()) {
        check_file(paths.client_ca, FileHolds::anything);
        if (::SSL_CTX_load_verify_locations(context, paths.client_ca.c_str(), nullptr) != 1) {
            fail_with_tls(paths.client_ca + ": contains no readable PEM certificate");
        }
        ::SSL_CTX_set_client_CA_list(context, ::SSL_load_client_CA_file(paths.client_ca.c_str()));
        ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (certificate_needed ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                             nullptr);
    }
}

TlsContext::~TlsContext() = default;

std::unique_ptr<HttpSocket> TlsContext::open(boost::asio::io_context& io, UniqueFd descriptor) const {
    return std::make_unique<TlsSocket>(io, std::move(descriptor), native_->context);
}

}  // namespace telegate
