#include "http/http_request.hpp"

#include "core/text.hpp"
#include "core/unique_fd.hpp"
#include "device/option_error.hpp"
#include "host/proc_file.hpp"
#include "http/response_reader.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace telegate::http {
namespace {

struct Scheme {
    std::string_view prefix;
    std::string_view port;
    bool is_tls;
};

constexpr std::array schemes{Scheme{"http://", "80", false}, Scheme{"https://", "443", true}};

/// Returns whether `text` begins with the prefix, in any case.
bool has_prefix(std::string_view text, std::string_view prefix) noexcept {
    return equal_ignoring_case(text.substr(0, prefix.size()), prefix);
}

bool is_target_character(char c) noexcept {
    return c > ' ' && c < '\x7f' && c != '#';
}

std::optional<Url> parse(std::string_view text) {
    const auto* const scheme =
        std::find_if(schemes.begin(), schemes.end(), [&](const Scheme& each) { return has_prefix(text, each.prefix); });
    if (scheme == schemes.end() || !std::all_of(text.begin(), text.end(), is_target_character)) {
        return std::nullopt;
    }
    const std::string_view shown = text.substr(0, text.find('?'));
    text.remove_prefix(scheme->prefix.size());
    const std::size_t authority_end = std::min(text.find_first_of("/?"), text.size());
    auto server = network::parse_host_port(text.substr(0, authority_end), scheme->port);
    if (!server) {
        return std::nullopt;
    }
    std::string target(text.substr(authority_end));
    if (!target.starts_with('/')) {
        target.insert(0, 1, '/');
    }
    return Url{scheme->is_tls, *std::move(server), std::move(target), std::string(shown)};
}

/// Blocks SIGPIPE for the calling thread: OpenSSL writes without MSG_NOSIGNAL, even to connections that the server has
/// closed.
void block_sigpipe() noexcept {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

constexpr std::string_view json_types = "application/json";
constexpr std::string_view metrics_types =
    "application/openmetrics-text;version=1.0.0;q=0.9,text/plain;version=0.0.4;q=0.8,*/*;q=0.1";
constexpr std::size_t token_bytes_max = 4'096;
constexpr std::size_t read_bytes = 16 * 1'024;

template <auto Free>
struct FreeWith {
    template <class Object>
    void operator()(Object* object) const noexcept {
        Free(object);
    }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeWith<&::SSL_CTX_free>>;
using TlsStream = std::unique_ptr<SSL, FreeWith<&::SSL_free>>;

TlsContext make_context(const std::string& ca_file) {
    TlsContext context(::SSL_CTX_new(::TLS_client_method()));
    if (!context) {
        throw std::bad_alloc();
    }
    const bool has_certificates = ca_file.empty()
                                      ? ::SSL_CTX_set_default_verify_paths(context.get()) == 1
                                      : host::is_regular_file(ca_file.c_str()) &&  // opening a pipe would block
                                            ::SSL_CTX_load_verify_file(context.get(), ca_file.c_str()) == 1;
    if (!has_certificates) {
        throw std::runtime_error("cannot load certificates from ca_file");
    }
    ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    ::SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return context;
}

TlsStream make_stream(SSL_CTX& context, int socket, const std::string& host) {
    TlsStream stream(::SSL_new(&context));
    if (!stream || ::SSL_set_fd(stream.get(), socket) != 1) {
        throw std::bad_alloc();
    }
    X509_VERIFY_PARAM* const wanted = ::SSL_get0_param(stream.get());
    if (::X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) != 1) {  // not an address: a name
        std::string name = host;                                       // SSL_set_tlsext_host_name() without its cast
        ::X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size());
        ::SSL_ctrl(stream.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
    }
    return stream;
}

std::string words_for_handshake(const SSL& stream) {
    const long result = ::SSL_get_verify_result(&stream);
    switch (result) {
        case X509_V_OK: return "TLS handshake failed";
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH: return "the certificate does not match the host";
        default: return std::string("the certificate is not trusted: ") + ::X509_verify_cert_error_string(result);
    }
}

/// Returns the request as it is sent each time, except for the token.
std::string request_head(const Url& url, HttpFormat format) {
    const bool is_ipv6 = url.server.host.find(':') != std::string::npos;
    std::string head = "GET " + url.target + " HTTP/1.1\r\nHost: ";
    head += is_ipv6 ? '[' + url.server.host + ']' : url.server.host;
    head += url.server.port == (url.is_tls ? "443" : "80") ? "" : ':' + url.server.port;
    head += "\r\nUser-Agent: telegate\r\nAccept-Encoding: identity\r\nAccept: ";
    head += format == HttpFormat::json ? json_types : metrics_types;
    return head + "\r\n";
}

}  // namespace

Url parse_url(std::string_view text) {
    if (auto url = parse(text)) {
        return *std::move(url);
    }
    throw OptionError("url", "invalid URL: \"" + std::string(text) +
                                 "\"; must be http://HOST[:PORT][/PATH][?QUERY] or https://..., without "
                                 "spaces, user name or fragment");
}

/// A connection to a server, and the request on it.
///
/// Threads: one. All functions wait with the signal and until the time of the request.
class HttpRequest::Connection {
  public:
    struct Wait {
        const CancelSignal* cancel;
        MonoTime until;
    };
    struct Outcome {
        Woken woken = Woken::ready;
        std::string fault = {};
        bool is_openmetrics = false;
        bool has_connected = false;    // to a server, in this request or an earlier one
        bool may_be_repeated = false;  // the server closed an idle connection
        bool keeps_alive = false;
    };

    Connection(const HttpDriverOptions& options, const Url& url) : options_(options), url_(url) {}

    /// Connects to the address. Sets `has_connected` if the server has accepted the connection.
    Outcome connect_to(const HostAddress& address, const Wait& wait) {
        Outcome outcome;
        socket_ = UniqueFd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        const int on = 1;
        ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        const void* const place = &address.storage;
        int error = ::connect(socket_.get(), static_cast<const sockaddr*>(place), address.bytes) == 0 ? 0 : errno;
        if (error == EINPROGRESS) {
            outcome.woken = wait_for(socket_.get(), POLLOUT, wait.cancel, wait.until).woken;
            socklen_t bytes = sizeof error;
            ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
        }
        if (outcome.woken != Woken::ready || error != 0) {
            outcome.fault = "cannot connect";
            return outcome;
        }
        outcome.has_connected = true;
        if (url_.is_tls) {
            shake_hands(outcome, wait);
        }
        return outcome;
    }

    /// Returns whether the server has sent nothing since the last response, not even the end of the connection.
    /// Anything else must not be taken for the next response (RFC 9112, section 6.3).
    [[nodiscard]] bool is_idle() const noexcept {
        pollfd socket{socket_.get(), POLLIN, 0};
        return ::poll(&socket, 1, 0) == 0 && (!stream_ || ::SSL_has_pending(stream_.get()) == 0);
    }

    /// Sends the request and appends the response to `body`. An empty token is not sent.
    Outcome get(const std::string& token, std::string& body, const Wait& wait) {
        Outcome outcome;
        outcome.has_connected = true;
        std::string request = request_head(url_, options_.format);
        request += token.empty() ? "\r\n" : "Authorization: Bearer " + token + "\r\n\r\n";
        bool is_sent = true;
        for (std::string_view rest = request; !rest.empty() && is_sent && outcome.woken == Woken::ready;) {
            const long count = transfer(outcome, wait, [&] { return write_some(rest); });
            is_sent = count > 0;
            rest.remove_prefix(is_sent ? static_cast<std::size_t>(count) : 0);
        }
        if (outcome.woken == Woken::ready) {
            read_response(outcome, body, wait);
            const bool is_idle_end = outcome.may_be_repeated && was_used_;
            outcome.fault = outcome.may_be_repeated && !is_sent ? "cannot send the request" : outcome.fault;
            outcome.may_be_repeated = is_idle_end;
        }
        was_used_ = true;
        return outcome;
    }

  private:
    static constexpr long would_wait = -2;  // until wants_ events

    void shake_hands(Outcome& outcome, const Wait& wait) {
        const TlsContext context = make_context(options_.ca_file);
        stream_ = make_stream(*context, socket_.get(), url_.server.host);
        const long result = transfer(outcome, wait, [&] { return tls_result(::SSL_connect(stream_.get())); });
        if (outcome.woken == Woken::ready && result <= 0) {
            outcome.fault = words_for_handshake(*stream_);
        }
    }

    void read_response(Outcome& outcome, std::string& body, const Wait& wait) {
        ResponseReader reader(options_.response_bytes_max, body);
        std::array<char, read_bytes> bytes;
        auto status = ResponseReader::Status::need_more;
        bool has_bytes = false;
        while (status == ResponseReader::Status::need_more && outcome.fault.empty()) {
            const long count = transfer(outcome, wait, [&] { return read_some(bytes); });
            if (outcome.woken != Woken::ready) {
                return;
            }
            has_bytes = has_bytes || count > 0;
            // Without its end, a response that lasts until the end of the connection may be truncated.
            const bool is_end = count == 0;
            status = count > 0 ? reader.feed({bytes.data(), static_cast<std::size_t>(count)})
                     : is_end  ? reader.end()
                               : ResponseReader::Status::invalid;
            outcome.fault = reader.has_head() ? fault_of(reader.head()) : "";
        }
        outcome.may_be_repeated = !has_bytes;
        outcome.keeps_alive = reader.keeps_alive();
        outcome.is_openmetrics = reader.head().content_type.starts_with("application/openmetrics-text");
        if (status == ResponseReader::Status::too_long && outcome.fault.empty()) {
            outcome.fault = "the response is longer than response_bytes_max, " +
                            std::to_string(options_.response_bytes_max) + " bytes";
        } else if (status == ResponseReader::Status::invalid && outcome.fault.empty()) {
            outcome.fault = "the response ended early or is not HTTP";
        }
    }

    [[nodiscard]] static std::string fault_of(const ResponseHead& head) {
        if (head.status / 100 != 2) {
            const bool is_redirect = head.status / 100 == 3;
            return "response status " + std::to_string(head.status) + ' ' + head.reason +
                   (is_redirect ? "; redirects are not followed" : "");
        }
        if (!head.content_encoding.empty() && head.content_encoding != "identity") {
            return "unsupported Content-Encoding: " + head.content_encoding + "; must be none";
        }
        const bool is_known = head.transfer_encoding.empty() || head.transfer_encoding == "chunked";
        return is_known ? "" : "unsupported Transfer-Encoding: " + head.transfer_encoding + "; must be chunked";
    }

    /// Repeats a transfer until it does not have to wait. Returns its result: 0 at the end, -1 after an error.
    template <class Some>
    long transfer(Outcome& outcome, const Wait& wait, const Some& some) {
        for (;;) {
            const long count = some();
            if (count != would_wait) {
                return count;
            }
            outcome.woken = wait_for(socket_.get(), wants_, wait.cancel, wait.until).woken;
            if (outcome.woken != Woken::ready) {
                return -1;
            }
        }
    }

    long read_some(std::array<char, read_bytes>& bytes) noexcept {
        if (stream_) {
            return tls_result(::SSL_read(stream_.get(), bytes.data(), static_cast<int>(bytes.size())));
        }
        return socket_result(::recv(socket_.get(), bytes.data(), bytes.size(), 0), POLLIN);
    }

    long write_some(std::string_view bytes) noexcept {
        if (stream_) {
            return tls_result(::SSL_write(stream_.get(), bytes.data(), static_cast<int>(bytes.size())));
        }
        return socket_result(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), POLLOUT);
    }

    long socket_result(ssize_t count, short wants) noexcept {
        wants_ = wants;
        return count >= 0 ? count : errno == EAGAIN || errno == EINTR ? would_wait : -1;
    }

    long tls_result(int count) noexcept {
        if (count > 0) {
            return count;
        }
        const int error = ::SSL_get_error(stream_.get(), count);
        ::ERR_clear_error();
        wants_ = error == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;
        const bool waits = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
        return waits ? would_wait : error == SSL_ERROR_ZERO_RETURN ? 0 : -1;
    }

    const HttpDriverOptions& options_;
    const Url& url_;
    UniqueFd socket_;
    TlsStream stream_;  // null without TLS
    short wants_ = 0;
    bool was_used_ = false;  // by an earlier request
};

HttpRequest::HttpRequest(const HttpDriverOptions& options)
    : options_(options), url_(parse_url(options_.url)), lookup_(url_.server) {}

HttpRequest::~HttpRequest() = default;

void HttpRequest::close() noexcept {
    connection_.reset();
}

std::string HttpRequest::read_token() const {
    std::array<char, token_bytes_max + 2> buffer;
    const auto text = host::file_text(options_.token_file.c_str(), buffer);
    std::string token(text.value_or(""));
    while (token.ends_with('\n') || token.ends_with('\r')) {
        token.pop_back();
    }
    const bool is_token = !token.empty() && token.size() <= token_bytes_max &&
                          std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (!is_token) {
        throw std::runtime_error("token_file: " + options_.token_file +
                                 (text ? " is not one line of up to 4096 visible characters" : " cannot be read"));
    }
    return token;
}

Answer HttpRequest::get(const CancelSignal* cancel, MonoTime until) {
    block_sigpipe();
    const std::string token = options_.token_file.empty() ? "" : read_token();
    const Connection::Wait wait{cancel, until};
    Connection::Outcome outcome;
    if (connection_ && !connection_->is_idle()) {
        connection_.reset();
    }
    if (connection_) {
        body_.clear();
        outcome = connection_->get(token, body_, wait);
    }
    if (!connection_ || (outcome.woken == Woken::ready && outcome.may_be_repeated)) {
        const network::HostFinder::Found found = lookup_.find(cancel, until);
        if (found.woken != Woken::ready || found.addresses.empty()) {
            return {found.woken, "host " + url_.server.host + ": " + found.what};
        }
        for (const HostAddress& address : found.addresses) {
            body_.clear();
            connection_ = std::make_unique<Connection>(options_, url_);
            outcome = connection_->connect_to(address, wait);
            if (outcome.woken == Woken::ready && outcome.fault.empty()) {
                outcome = connection_->get(token, body_, wait);
            }
            if (outcome.woken != Woken::ready || outcome.has_connected) {
                break;
            }
        }
    }
    if (outcome.woken != Woken::ready || !outcome.fault.empty() || !outcome.keeps_alive) {
        connection_.reset();
    }
    return {outcome.woken, std::move(outcome.fault), body_, outcome.is_openmetrics};
}

}  // namespace telegate::http
