#include "http/http_listener.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <system_error>

namespace telegate {
namespace {

// A client beyond the backlog retries after a second, which is the timeout of some health checks.
constexpr int backlog = 1'024;
constexpr mode_t unix_mode = 0660;

std::string address_text(const std::string& host, const std::string& port) {
    return host.find(':') == std::string::npos ? host + ':' + port : '[' + host + "]:" + port;
}

[[noreturn]] void fail_to_listen(int error, const std::string& address) {
    throw std::system_error(error, std::generic_category(), "cannot listen on " + address);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// Never uses the resolver, which could block the start and would load NSS modules permanently.
Addresses resolve(const std::string& host, const std::string& port) {
    addrinfo* found = nullptr;
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
    const std::string numeric = host == "localhost" ? "127.0.0.1" : host;
    if (::getaddrinfo(numeric.c_str(), port.c_str(), &hints, &found) != 0) {
        fail_to_listen(EADDRNOTAVAIL, address_text(host, port));
    }
    return {found, &::freeaddrinfo};
}

struct NumericName {
    std::string host;
    std::string port;
};

NumericName numeric_name(const sockaddr_storage& storage, socklen_t bytes) {
    const void* const address = &storage;
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    if (::getnameinfo(static_cast<const sockaddr*>(address), bytes, host.data(), host.size(), port.data(), port.size(),
                      NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return {};
    }
    return {host.data(), port.data()};
}

struct SocketName {
    sockaddr_storage storage{};
    socklen_t bytes = sizeof(sockaddr_storage);
};

SocketName name_of(int socket) {
    SocketName name;
    void* const address = &name.storage;
    if (::getsockname(socket, static_cast<sockaddr*>(address), &name.bytes) != 0) {
        return {};
    }
    return name;
}

std::string bound_address(int socket) {
    const SocketName name = name_of(socket);
    if (name.storage.ss_family == AF_UNIX) {
        sockaddr_un address{};
        std::memcpy(&address, &name.storage, sizeof address);
        return "unix:" + std::string(address.sun_path, ::strnlen(address.sun_path, sizeof address.sun_path));
    }
    const NumericName numeric = numeric_name(name.storage, name.bytes);
    return address_text(numeric.host, numeric.port);
}

sockaddr_un unix_address(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) {
        fail_to_listen(ENAMETOOLONG, "unix:" + path);
    }
    path.copy(address.sun_path, path.size());
    return address;
}

// Returns whether the file is a socket without a listener.
bool is_stale(const sockaddr_un& address) {
    struct stat facts {};
    if (::stat(address.sun_path, &facts) != 0 || !S_ISSOCK(facts.st_mode)) {
        return false;
    }
    const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const void* const name = &address;
    return ::connect(probe.get(), static_cast<const sockaddr*>(name), sizeof address) != 0 && errno == ECONNREFUSED;
}

int bind_unix(int socket, const sockaddr_un& address) {
    const void* const name = &address;
    if (::bind(socket, static_cast<const sockaddr*>(name), sizeof address) != 0) {
        return errno;
    }
    return ::chmod(address.sun_path, unix_mode) == 0 && ::listen(socket, backlog) == 0 ? 0 : errno;
}

/// Returns the identity of the file (device and inode), or {0, 0} if there is none.
std::pair<std::uint64_t, std::uint64_t> identity_of(const std::string& path) noexcept {
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0 ? std::pair<std::uint64_t, std::uint64_t>(facts.st_dev, facts.st_ino)
                                              : std::pair<std::uint64_t, std::uint64_t>();
}

std::string without_mapping(const std::string& host) {
    constexpr std::string_view mapped = "::ffff:";  // an IPv4 client of an IPv6 socket
    return host.starts_with(mapped) ? host.substr(mapped.size()) : host;
}

HttpPeer tcp_peer(int client, const sockaddr_storage& storage, socklen_t bytes) {
    const int yes = 1;  // do not delay the end of a long response until the peer acknowledges (Nagle)
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return {.address = without_mapping(numeric_name(storage, bytes).host)};
}

HttpPeer unix_peer(int client) {
    ucred credentials{};
    socklen_t bytes = sizeof credentials;
    const bool known = ::getsockopt(client, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) == 0;
    constexpr std::uint32_t nobody = 65'534;
    return {.address = "unix", .uid = known ? credentials.uid : nobody};
}

}  // namespace

HttpListener HttpListener::on_tcp(const std::string& host, std::uint16_t port) {
    const std::string service = std::to_string(port);
    const Addresses addresses = resolve(host, service);
    HttpListener listener(::socket(addresses->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    // SO_REUSEADDR lets a restart bind the port while old connections are in TIME_WAIT. SO_REUSEPORT would let two
    // daemons share the port, and the kernel would split the requests between them.
    const int yes = 1;
    ::setsockopt(listener.socket(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (listener.socket() < 0 || ::bind(listener.socket(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
        ::listen(listener.socket(), backlog) != 0) {
        fail_to_listen(errno, address_text(host, service));
    }
    listener.address_ = bound_address(listener.socket());
    return listener;
}

HttpListener HttpListener::on_unix(const std::string& path) {
    const sockaddr_un address = unix_address(path);
    HttpListener listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    listener.over_tcp_ = false;
    int error = listener.socket() < 0 ? errno : bind_unix(listener.socket(), address);
    if (error == EADDRINUSE && is_stale(address) && ::unlink(address.sun_path) == 0) {
        error = bind_unix(listener.socket(), address);
    }
    if (error != 0) {
        fail_to_listen(error, "unix:" + path);
    }
    listener.path_ = path;
    listener.file_ = identity_of(path);
    listener.address_ = "unix:" + path;
    return listener;
}

HttpListener HttpListener::adopt(int socket) {
    HttpListener listener(socket);
    int listening = 0;
    socklen_t bytes = sizeof listening;
    const sa_family_t family = name_of(socket).storage.ss_family;
    const bool usable = family == AF_UNIX || family == AF_INET || family == AF_INET6;
    if (::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listening, &bytes) != 0 || listening == 0 || !usable) {
        fail_to_listen(EINVAL, "descriptor " + std::to_string(socket) + ", which is not a listening socket");
    }
    ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
    ::fcntl(socket, F_SETFD, FD_CLOEXEC);
    listener.over_tcp_ = family != AF_UNIX;
    listener.address_ = bound_address(socket);
    return listener;
}

HttpListener::HttpListener(HttpListener&& other) noexcept
    : socket_(std::move(other.socket_)),
      over_tcp_(other.over_tcp_),
      address_(std::move(other.address_)),
      path_(std::exchange(other.path_, {})),
      file_(std::exchange(other.file_, {})) {}

HttpListener::~HttpListener() {
    close();
}

HttpListener::Accepted HttpListener::accept() const noexcept {
    sockaddr_storage storage{};
    socklen_t bytes = sizeof storage;
    void* const address = &storage;
    UniqueFd client(::accept4(socket_.get(), static_cast<sockaddr*>(address), &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (client.get() < 0) {
        const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        return {.outcome = exhausted ? Outcome::exhausted : Outcome::none};
    }
    try {
        HttpPeer peer = over_tcp_ ? tcp_peer(client.get(), storage, bytes) : unix_peer(client.get());
        return {Outcome::accepted, std::move(client), std::move(peer)};
    } catch (const std::bad_alloc&) {
        return {.outcome = Outcome::exhausted};
    }
}

void HttpListener::close() noexcept {
    socket_ = UniqueFd();
    if (!path_.empty() && identity_of(path_) == file_) {  // the path may have been replaced in the meantime
        ::unlink(path_.c_str());
    }
    path_.clear();
}

}  // namespace telegate
