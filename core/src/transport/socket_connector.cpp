#include "transport/socket_connector.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <utility>

namespace telegate::transport {
namespace {

/// Returns whether both ends are one socket.
bool is_connected_to_itself(int descriptor) noexcept {
    SocketAddress own;
    SocketAddress peer;
    own.bytes = sizeof own.storage;
    peer.bytes = sizeof peer.storage;
    return ::getsockname(descriptor, own.get(), &own.bytes) == 0 &&
           ::getpeername(descriptor, peer.get(), &peer.bytes) == 0 && own.family() != AF_UNIX &&
           own.bytes == peer.bytes && std::memcmp(own.get(), peer.get(), own.bytes) == 0;
}

}  // namespace

int outcome_of_connect(int descriptor) noexcept {
    int error = 0;
    socklen_t bytes = sizeof error;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) {
        return errno;
    }
    return error == 0 && is_connected_to_itself(descriptor) ? ECONNREFUSED : error;
}

SocketConnector::SocketConnector(Reactor& reactor, Destination destination, MakeStream make_stream,
                                 OnConnected on_connected)
    : reactor_(reactor),
      addresses_(std::move(destination.addresses)),
      make_stream_(make_stream),
      on_connected_(std::move(on_connected)),
      error_(destination.error),
      failure_alarm_(reactor, [this] { finish(nullptr); }) {
    try_next();
}

void SocketConnector::try_next() {
    while (next_ < addresses_.size()) {
        error_ = begin(addresses_[next_++]);
        if (error_ == 0) {
            return;
        }
    }
    failure_alarm_.set(std::chrono::milliseconds(0));
}

/// Returns 0 if the attempt is in progress.
int SocketConnector::begin(const SocketAddress& address) {
    watch_.reset();
    descriptor_ = UniqueFd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (descriptor_.get() < 0) {
        return errno;
    }
    if (::connect(descriptor_.get(), address.get(), address.bytes) != 0 && errno != EINPROGRESS && errno != EINTR) {
        return errno;
    }
    try {
        watch_ = std::make_unique<Watch>(
            reactor_, descriptor_.get(), [] {}, [this] { finish_connect(); });
    } catch (const std::system_error& failure) {
        return failure.code().value();
    }
    watch_->wait_writable();
    return 0;
}

void SocketConnector::finish_connect() {
    error_ = outcome_of_connect(descriptor_.get());
    watch_.reset();
    if (error_ != 0) {
        try_next();
        return;
    }
    finish(make_stream_(reactor_, std::move(descriptor_)));
}

void SocketConnector::finish(std::unique_ptr<Stream> stream) {
    const OnConnected call = std::move(on_connected_);  // the call may destroy this
    const int error = error_;
    call(std::move(stream), error);
}

}  // namespace telegate::transport
