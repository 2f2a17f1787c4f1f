#include "listener.hpp"

#include "core/limits.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace telegate {

Listener::Listener(net::io_context& context, transport::Bound bound, OnAccept on_accept, OnError on_error)
    : descriptor_(context, bound.descriptor.release()),
      pause_timer_(context),
      endpoint_(std::move(bound.endpoint)),
      file_(bound.file),
      on_accept_(std::move(on_accept)),
      on_error_(std::move(on_error)) {}

void Listener::close() {
    if (closed_) {
        return;
    }
    closed_ = true;
    pause_timer_.cancel();
    transport::forget(endpoint_, file_);  // while we still listen: later the name may be our successor's
    ErrorCode ignored;
    descriptor_.close(ignored);
}

void Listener::wait() {
    descriptor_.async_wait(Descriptor::wait_read, [self = shared_from_this()](const ErrorCode& error) {
        if (!error && !self->closed_) {
            self->accept_some();
        }
    });
}

void Listener::accept_some() {
    for (std::size_t accepted = 0; accepted < limits::accepts_per_turn && !closed_; ++accepted) {
        UniqueFd peer(::accept4(descriptor_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (peer.get() >= 0) {
            on_accept_(std::move(peer), endpoint_);
            continue;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            break;
        }
        const int error = errno;
        on_error_(error);
        if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) {
            return wait_after_pause();
        }
    }
    if (!closed_) {
        wait();
    }
}

void Listener::wait_after_pause() {
    pause_timer_.expires_after(pause);
    pause_timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
        if (!error && !self->closed_) {
            self->wait();
        }
    });
}

}  // namespace telegate
