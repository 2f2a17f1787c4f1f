#include "http/tls_context.hpp"

#include "base/whole_file.hpp"
#include "http/http_socket.hpp"
#include "http/tls_handshakes.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <array>
#include <atomic>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

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

/// Replaces OpenSSL's own function, which would wait for a password at the terminal.
int no_password(char* /*to*/, int /*bytes_max*/, int /*is_written*/, void* was_called) {
    if (was_called != nullptr) {
        *static_cast<bool*>(was_called) = true;
    }
    return -1;
}

void use_key(SSL_CTX* context, const TlsPaths& paths) {
    check_file(paths.key, FileHolds::secret);
    bool has_password = false;
    ::SSL_CTX_set_default_passwd_cb_userdata(context, &has_password);
    const bool is_used = ::SSL_CTX_use_PrivateKey_file(context, paths.key.c_str(), SSL_FILETYPE_PEM) == 1;
    ::SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);  // Asio would delete it
    if (!is_used) {
        fail_with_tls(paths.key + (has_password
                                       ? ": has a password, which nobody can enter; \"openssl pkey\" writes the "
                                         "key without one"
                                       : ": not the private key of " + paths.certificate));
    }
}

/// A TLS connection. The steps of its handshake run on the thread of TlsHandshakes, directly on the descriptor, while
/// the I/O thread only waits for the peer; everything after the handshake runs on the I/O thread, through Asio.
class TlsSocket final : public HttpSocket {
  public:
    TlsSocket(boost::asio::io_context& io, UniqueFd descriptor, ssl::context& context, TlsContext::Handshake handshake)
        : io_(io), handshake_(std::move(handshake)), stream_(stream_socket(io, std::move(descriptor)), context) {}
    ~TlsSocket() override { ::BIO_free(pair_); }
    TlsSocket(const TlsSocket&) = delete;
    TlsSocket& operator=(const TlsSocket&) = delete;

    void open(HttpDone done) override {
        ssl_st* const session = stream_.native_handle();
        ::BIO* const pair = ::SSL_get_rbio(session);  // between the session and Asio
        ::BIO_up_ref(pair);
        pair_ = pair;
        if (::SSL_set_fd(session, stream_.next_layer().native_handle()) != 1) {
            throw std::bad_alloc();
        }
        shake_hands(std::move(done));
    }
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
        is_closed_ = true;
        if (pair_ == nullptr) {
            stream_.next_layer().close(ignored);
        } else {  // the other thread may be using the descriptor; the destructor closes it
            stream_.next_layer().shutdown(StreamSocket::shutdown_both, ignored);
            stream_.next_layer().cancel(ignored);
        }
    }
    [[nodiscard]] bool has_handshake() const noexcept override { return true; }
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
    /// Runs the next step of the handshake on the other thread. The work guard keeps the event loop running until then.
    void shake_hands(HttpDone done) {
        const auto work = boost::asio::make_work_guard(io_);
        // The last copy may own the connection, which must be destroyed on the I/O thread.
        const auto held = std::make_shared<HttpDone>(std::move(done));
        handshake_.thread.add(handshake_.client, [this, work, held] {
            const int error = is_closed_ ? SSL_ERROR_SYSCALL : step();
            boost::asio::post(io_, [this, error, held] {
                const HttpDone last = std::move(*held);
                stepped(error, last);
            });
        });
    }

    /// Thread: that of the handshakes.
    [[nodiscard]] int step() noexcept {
        ssl_st* const session = stream_.native_handle();
        ::ERR_clear_error();
        return ::SSL_get_error(session, ::SSL_accept(session));
    }

    void stepped(int error, const HttpDone& done) {
        using Wait = StreamSocket::wait_type;
        if (error == SSL_ERROR_NONE) {
            ::SSL_set_bio(stream_.native_handle(), pair_, pair_);  // takes the reference
            pair_ = nullptr;
            return done();
        }
        if (is_closed_ || (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)) {
            return done(boost::asio::error::connection_aborted);
        }
        const Wait wait = error == SSL_ERROR_WANT_READ ? StreamSocket::wait_read : StreamSocket::wait_write;
        stream_.next_layer().async_wait(wait, [this, done](const boost::system::error_code& failure) {
            try {
                failure || is_closed_ ? done(boost::asio::error::connection_aborted) : shake_hands(done);
            } catch (const std::exception&) {  // no thread
                done(boost::asio::error::no_memory);
            }
        });
    }

    boost::asio::io_context& io_;
    const TlsContext::Handshake handshake_;
    ssl::stream<StreamSocket> stream_;
    ::BIO* pair_ = nullptr;  // during the handshake
    std::atomic<bool> is_closed_{false};
    bool has_ended_ = false;
};

}  // namespace

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
    ::SSL_CTX_set_default_passwd_cb(context, no_password);
    check_file(paths.certificate, FileHolds::anything);
    if (::SSL_CTX_use_certificate_chain_file(context, paths.certificate.c_str()) != 1) {
        fail_with_tls(paths.certificate + ": not a readable PEM certificate");
    }
    use_key(context, paths);
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

std::unique_ptr<HttpSocket> TlsContext::open(boost::asio::io_context& io, UniqueFd descriptor,
                                             Handshake handshake) const {
    return std::make_unique<TlsSocket>(io, std::move(descriptor), native_->context, std::move(handshake));
}

}  // namespace telegate
