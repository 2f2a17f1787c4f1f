#include "http/http_request.hpp"

#include "core/start_thread.hpp"
#include "core/unique_fd.hpp"
#include "host/proc_file.hpp"
#include "host/text_scan.hpp"

#include <arpa/inet.h>
#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace telegate::http {
namespace {

/// Blocks SIGPIPE for the calling thread: OpenSSL writes without MSG_NOSIGNAL, even to connections that the server has
/// closed.
void block_sigpipe() noexcept {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

using std::chrono::milliseconds;

constexpr std::string_view json_types = "application/json";
constexpr std::string_view metrics_types =
    "application/openmetrics-text;version=1.0.0;q=0.9,text/plain;version=0.0.4;q=0.8,*/*;q=0.1";
constexpr int status_ok = 200;
constexpr std::size_t token_bytes_max = 4'096;
constexpr std::chrono::minutes time_limit{1};
constexpr milliseconds cut_again_after{10};  // a socket that is not yet connecting cannot be shut down

std::string shown(const network::Address& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* binary = nullptr;
    if (address.storage.ss_family == AF_INET6) {
        binary = &reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr;
    } else {
        binary = &reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr;
    }
    ::inet_ntop(address.storage.ss_family, binary, text.data(), static_cast<socklen_t>(text.size()));
    return text.data();
}

std::unique_ptr<httplib::ClientImpl> make_client(const Url& url, const std::string& ca_file) {
    const int port = host::to_number<std::uint16_t>(url.server.port).value_or(0);
    if (!url.is_tls) {
        return std::make_unique<httplib::ClientImpl>(url.server.host, port);
    }
    auto client = std::make_unique<httplib::SSLClient>(url.server.host, port);
    client->enable_server_certificate_verification(true);
    if (!ca_file.empty()) {
        client->set_ca_cert_path(ca_file);
    }
    return client;
}

std::string words_for(httplib::Error error, const httplib::ClientImpl& client) {
    using Error = httplib::Error;
    switch (error) {
        case Error::Connection: return "cannot connect";
        case Error::ConnectionTimeout: return "connection timed out";
        case Error::Read: return "the response ended early or is not HTTP";
        case Error::Write: return "cannot send the request";
        case Error::SSLConnection: return "TLS handshake failed";
        case Error::SSLLoadingCerts: return "cannot load certificates from ca_file";
        case Error::SSLServerHostnameVerification: return "the certificate does not match the host";
        case Error::SSLServerVerification:
            return std::string("the certificate is not trusted: ") +
                   ::X509_verify_cert_error_string(
                       dynamic_cast<const httplib::SSLClient&>(client).get_openssl_verify_result());
        default: return httplib::to_string(error);
    }
}

}  // namespace

/// A client of the library with the state of its current request.
class HttpRequest::Connection {
  public:
    Connection(const HttpDriverOptions& options, const Url& url)
        : options_(options), target_(url.target), client_(make_client(url, options.ca_file)) {
        client_->set_keep_alive(true);
        client_->set_follow_location(false);
        client_->set_decompress(false);
        client_->set_tcp_nodelay(true);
        client_->set_connection_timeout(time_limit);  // cut() is what actually ends a request
        client_->set_read_timeout(time_limit);
        client_->set_write_timeout(time_limit);
        client_->set_socket_options([this](int socket) { note(socket); });
    }

    void connect_to(const std::string& host, const network::Address& address) {
        client_->set_hostname_addr_map({{host, shown(address)}});
    }

    struct Outcome {
        Woken woken = Woken::ready;
        std::string fault = {};
        bool is_openmetrics = false;
        bool has_connected = false;    // connected to a server, in this request or an earlier one
        bool may_be_repeated = false;  // the server closed an idle connection
    };

    /// Adds the response to `body`. An empty token is not sent.
    Outcome get(const std::string& token, std::string& body, const CancelSignal* cancel, MonoTime until) {
        is_new_ = false;
        Outcome outcome;
        const UniqueFd ended(::eventfd(0, EFD_CLOEXEC));
        if (ended.get() < 0) {
            throw std::system_error(errno, std::generic_category(), "eventfd");
        }
        std::thread request = start_thread("tg-get", [&] {
            block_sigpipe();
            ask(token, body, outcome);
            const std::uint64_t one = 1;
            [[maybe_unused]] const ssize_t written = ::write(ended.get(), &one, sizeof one);
        });
        const Woken woken = wait_for(ended.get(), POLLIN, cancel, until).woken;
        if (woken != Woken::ready) {
            do {
                cut();
            } while (wait_for(ended.get(), POLLIN, nullptr, std::chrono::steady_clock::now() + cut_again_after).woken !=
                     Woken::ready);
        }
        request.join();
        outcome.woken = woken;
        return outcome;
    }

  private:
    /// Runs on the thread of the request.
    void note(int socket) noexcept {
        const std::lock_guard lock(mutex_);
        socket_ = UniqueFd(::fcntl(socket, F_DUPFD_CLOEXEC, 0));
        is_new_ = true;
    }

    /// Shuts the socket down, which ends blocking calls of the request thread.
    void cut() noexcept {
        const std::lock_guard lock(mutex_);
        if (socket_.get() >= 0) {
            ::shutdown(socket_.get(), SHUT_RDWR);
        }
    }

    /// Runs on the thread of the request.
    void ask(const std::string& token, std::string& body, Outcome& outcome) noexcept {
        try {
            const std::string_view types = options_.format == HttpFormat::json ? json_types : metrics_types;
            httplib::Headers headers{{"Accept", std::string(types)}, {"User-Agent", "telegate"}};
            if (!token.empty()) {
                headers.emplace("Authorization", "Bearer " + token);
            }
            bool has_answered = false;
            const auto result = client_->Get(
                target_, headers,
                [&](const httplib::Response& response) {
                    has_answered = true;
                    outcome.is_openmetrics =
                        response.get_header_value("Content-Type").starts_with("application/openmetrics-text");
                    outcome.fault = fault_of(response);
                    return outcome.fault.empty();
                },
                [&](const char* bytes, std::size_t count) {
                    if (count > options_.response_bytes_max - body.size()) {
                        outcome.fault = too_long();
                        return false;
                    }
                    body.append(bytes, count);
                    return true;
                });
            outcome.has_connected =
                !is_new_ || has_answered || result ||
                (result.error() != httplib::Error::Connection && result.error() != httplib::Error::ConnectionTimeout);
            if (!result && outcome.fault.empty()) {
                outcome.fault = words_for(result.error(), *client_);
                outcome.may_be_repeated = !is_new_ && !has_answered;
            }
        } catch (const std::exception& error) {
            outcome.fault = error.what();
        }
    }

    [[nodiscard]] std::string fault_of(const httplib::Response& response) const {
        if (response.status != status_ok) {
            const bool is_redirect = response.status / 100 == 3;
            return "response status " + std::to_string(response.status) + ' ' + response.reason +
                   (is_redirect ? "; redirects are not followed" : "");
        }
        const std::string encoding = response.get_header_value("Content-Encoding");
        if (!encoding.empty() && encoding != "identity") {
            return "unsupported Content-Encoding: " + encoding + "; must be none";
        }
        return response.get_header_value_u64("Content-Length") > options_.response_bytes_max ? too_long() : "";
    }

    [[nodiscard]] std::string too_long() const {
        return "the response is longer than response_bytes_max, " + std::to_string(options_.response_bytes_max) +
               " bytes";
    }

    const HttpDriverOptions& options_;
    const std::string& target_;
    const std::unique_ptr<httplib::ClientImpl> client_;
    std::mutex mutex_;
    UniqueFd socket_;      // duplicate of the client's socket, which the client may close at any time
    bool is_new_ = false;  // this request opened a connection
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
    const std::string token = options_.token_file.empty() ? "" : read_token();
    Connection::Outcome outcome;
    if (connection_) {
        body_.clear();
        outcome = connection_->get(token, body_, cancel, until);
    }
    if (!connection_ || (outcome.woken == Woken::ready && outcome.may_be_repeated)) {
        const network::HostLookup::Found found = lookup_.find(cancel, until);
        if (found.woken != Woken::ready || found.addresses.empty()) {
            return {found.woken, "host " + url_.server.host + ": " + found.what};
        }
        for (const network::Address& address : found.addresses) {
            body_.clear();
            connection_ = std::make_unique<Connection>(options_, url_);
            connection_->connect_to(url_.server.host, address);
            outcome = connection_->get(token, body_, cancel, until);
            if (outcome.woken != Woken::ready || outcome.has_connected) {
                break;
            }
        }
    }
    if (outcome.woken != Woken::ready || !outcome.fault.empty()) {
        connection_.reset();
    }
    return {outcome.woken, std::move(outcome.fault), body_, outcome.is_openmetrics};
}

}  // namespace telegate::http
