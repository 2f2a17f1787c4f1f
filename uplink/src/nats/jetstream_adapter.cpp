#include "uplink/jetstream_adapter.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <exception>
#include <random>
#include <span>
#include <system_error>
#include <utility>

namespace telegate::uplink {
namespace {

constexpr std::size_t read_bytes = 16'384;
constexpr int reads_per_iteration = 16;
constexpr std::string_view response_subscription = "1";

std::string error_text(int error) {
    return std::generic_category().message(error);
}

/// A subject that no other connection uses.
std::string random_inbox() {
    std::random_device random;
    std::string inbox = "_INBOX.telegate";
    for (int i = 0; i < 4; ++i) {
        inbox += '.' + std::to_string(random());
    }
    return inbox + '.';
}

/// Detects within a minute that the server's machine is gone, even if nothing is sent.
void keep_alive(int socket) {
    constexpr int on = 1;
    constexpr int idle_s = 30;
    constexpr int interval_s = 10;
    constexpr int probes = 3;
    ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void add_header(std::string_view name, std::string_view value, std::string& headers) {
    headers += name;
    headers += ": ";
    headers += value;
    headers += "\r\n";
}

std::string headers_of(const OutgoingMessage& message) {
    std::string headers;
    add_header("Nats-Msg-Id", message.id, headers);
    add_header("Telegate-Epoch", std::to_string(message.epoch_ms), headers);
    add_header("Telegate-Position", std::to_string(message.position), headers);
    add_header("Telegate-End", std::to_string(message.end_position), headers);
    add_header("Telegate-Part", std::to_string(message.part), headers);
    add_header("Telegate-Last-Part", message.is_last_part ? "yes" : "no", headers);
    return headers;
}

}  // namespace

struct JetStreamAdapter::Address {
    sockaddr_storage address{};
    socklen_t bytes = 0;
};

std::optional<NatsServer> parse_nats_url(std::string_view url) {
    constexpr std::string_view scheme = "nats://";
    if (!url.starts_with(scheme)) {
        return std::nullopt;
    }
    std::string_view rest = url.substr(scheme.size());
    NatsServer server;
    const bool is_bracketed = rest.starts_with('[');
    const std::size_t host_end = is_bracketed ? rest.find(']') : std::min(rest.find(':'), rest.size());
    if (host_end == std::string_view::npos) {
        return std::nullopt;
    }
    server.host = rest.substr(is_bracketed ? 1 : 0, host_end - (is_bracketed ? 1 : 0));
    rest.remove_prefix(host_end + (is_bracketed ? 1 : 0));
    if (rest.starts_with(':')) {
        server.port = rest.substr(1);
    } else if (!rest.empty()) {
        return std::nullopt;
    }
    std::uint16_t port = 0;
    const char* const end = server.port.data() + server.port.size();
    const auto [stop, error] = std::from_chars(server.port.data(), end, port);
    const bool is_valid = error == std::errc() && stop == end && port > 0 && !server.host.empty() &&
                          server.host.find_first_of("/@ ") == std::string::npos;
    return is_valid ? std::optional(std::move(server)) : std::nullopt;
}

JetStreamAdapter::JetStreamAdapter(Reactor& reactor, Options options, Events events)
    : reactor_(reactor), options_(std::move(options)), events_(std::move(events)), later_(reactor, [this] {
          for (const std::uint64_t number : std::exchange(too_large_, {})) {
              events_.refused(number, Refusal::permanent,
                              "message is larger than the server's max_payload of " +
                                  std::to_string(payload_bytes_max_) + " bytes; lower batch_bytes");
          }
          if (!failure_.empty()) {
              fail(std::exchange(failure_, {}));
          }
      }) {}

JetStreamAdapter::~JetStreamAdapter() {
    close();
}

void JetStreamAdapter::close() {
    watch_.reset();
    socket_ = UniqueFd();
    state_ = State::closed;
    decoder_ = NatsDecoder();
    out_.clear();
    written_ = 0;
    failure_.clear();
    too_large_.clear();
    later_.cancel();
}

void JetStreamAdapter::fail_later(std::string reason) {
    failure_ = std::move(reason);
    later_.ask();
}

void JetStreamAdapter::fail(const std::string& reason) {
    const std::string server = server_;
    close();
    events_.down(server + ": " + reason);
}

void JetStreamAdapter::connect() {
    const NatsServer& server = options_.servers[next_server_++ % options_.servers.size()];
    server_ = server.host + ':' + server.port;
    addresses_.clear();
    next_address_ = 0;
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(server.host.c_str(), server.port.c_str(), &hints, &found); error != 0) {
        fail_later(std::string("cannot resolve the host: ") + ::gai_strerror(error));
        return;
    }
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
        Address& address = addresses_.emplace_back();
        std::copy_n(reinterpret_cast<const std::byte*>(each->ai_addr), each->ai_addrlen,
                    reinterpret_cast<std::byte*>(&address.address));
        address.bytes = each->ai_addrlen;
    }
    ::freeaddrinfo(found);
    open_socket();
}

/// Begins to connect to the next address of the server.
void JetStreamAdapter::open_socket() {
    int error = EADDRNOTAVAIL;
    while (next_address_ < addresses_.size()) {
        const Address& address = addresses_[next_address_++];
        watch_.reset();
        socket_ = UniqueFd(::socket(address.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        if (socket_.get() < 0) {
            error = errno;
            continue;
        }
        keep_alive(socket_.get());
        if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address.address), address.bytes) == 0 ||
            errno == EINPROGRESS) {
            state_ = State::connecting;
            watch_ = std::make_unique<Watch>(
                reactor_, socket_.get(), [this] { read(); },
                [this] {
                    if (state_ == State::connecting) {
                        on_connected();
                    } else {
                        write();
                    }
                });
            watch_->wait_writable();
            return;
        }
        error = errno;
    }
    fail_later("cannot connect: " + error_text(error));
}

void JetStreamAdapter::on_connected() {
    int error = 0;
    socklen_t bytes = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error == 0) {
        state_ = State::greeting;
        watch_->wait_readable();
    } else if (next_address_ < addresses_.size()) {
        open_socket();
    } else {
        fail("cannot connect: " + error_text(error));
    }
}

void JetStreamAdapter::read() {
    std::array<std::byte, read_bytes> buffer;
    for (int i = 0; i < reads_per_iteration; ++i) {
        const ssize_t bytes = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
        if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) {
            break;
        }
        if (bytes <= 0) {
            return fail(bytes == 0 ? "the server closed the connection" : "cannot read: " + error_text(errno));
        }
        decoder_.feed(std::span(buffer).first(static_cast<std::size_t>(bytes)));
        NatsFrame frame;
        NatsStatus status = decoder_.next(frame);
        for (; status == NatsStatus::frame_ready; status = decoder_.next(frame)) {
            handle(frame);
            if (state_ == State::closed) {
                return;
            }
        }
        if (status == NatsStatus::violation) {
            return fail("the server does not speak the NATS protocol");
        }
    }
    watch_->wait_readable();
}

void JetStreamAdapter::handle(const NatsFrame& frame) {
    switch (frame.kind) {
        case NatsKind::info:
            if (state_ == State::greeting) {
                greet(frame);
            }
            return;
        case NatsKind::ping: out_ += nats_pong; return write();
        case NatsKind::pong:
            if (state_ == State::authenticating) {
                state_ = State::up;
                next_server_ = (next_server_ - 1) % options_.servers.size();  // the server to return to
                events_.up(server_);
            }
            return;
        case NatsKind::message: return handle_response(frame);
        case NatsKind::error: return fail(std::string(frame.text));
        case NatsKind::ok: return;
    }
}

/// Authenticates, and subscribes to the responses.
void JetStreamAdapter::greet(const NatsFrame& frame) {
    const NatsServerInfo info = read_server_info(frame.text);
    if (info.needs_tls) {
        return fail("the server requires TLS, which this uplink does not support");
    }
    if (!info.has_headers) {
        return fail("the server does not support headers: NATS 2.2 or later is required");
    }
    NatsCredentials credentials;
    try {
        credentials = options_.credentials();
    } catch (const std::exception& error) {
        return fail(error.what());
    }
    payload_bytes_max_ = info.payload_bytes_max;
    inbox_ = random_inbox();
    append_connect(credentials, options_.client_name, out_);
    append_subscribe(inbox_ + '*', response_subscription, out_);
    out_ += nats_ping;
    state_ = State::authenticating;
    write();
}

void JetStreamAdapter::handle_response(const NatsFrame& frame) {
    std::uint64_t number = 0;
    const std::string_view text = frame.subject.substr(std::min(inbox_.size(), frame.subject.size()));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (!frame.subject.starts_with(inbox_) || error != std::errc() || end != text.data() + text.size()) {
        return;  // not a response to one of our messages
    }
    const PublishResponse response = read_publish_response(frame);
    if (response.is_stored) {
        events_.acknowledged(number, response.is_duplicate);
    } else {
        events_.refused(number, response.is_permanent ? Refusal::permanent : Refusal::transient, response.reason);
    }
}

void JetStreamAdapter::send(const OutgoingMessage& message, std::uint64_t number) {
    const std::string headers = headers_of(message);
    if (payload_bytes_max_ > 0 && headers.size() + message.payload.size() > payload_bytes_max_) {
        too_large_.push_back(number);  // the server would end the connection
        later_.ask();
        return;
    }
    append_publish({options_.subject, inbox_ + std::to_string(number), headers, message.payload}, out_);
    watch_->wait_writable();
}

void JetStreamAdapter::write() {
    while (written_ < out_.size()) {
        const ssize_t bytes = ::send(socket_.get(), out_.data() + written_, out_.size() - written_, MSG_NOSIGNAL);
        if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) {
            watch_->wait_writable();
            return;
        }
        if (bytes < 0) {
            return fail_later("cannot write: " + error_text(errno));
        }
        written_ += static_cast<std::size_t>(bytes);
    }
    out_.clear();
    written_ = 0;
}

}  // namespace telegate::uplink
