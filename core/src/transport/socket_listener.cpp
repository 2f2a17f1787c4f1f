#include "transport/socket_listener.hpp"

#include "core/limits.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace telegate::transport {
namespace {

bool is_lack_of_descriptors(int error) noexcept {
    return error == EMFILE || error == ENFILE;
}

/// Returns whether the error belongs to a connection that died before it was accepted. accept(2) reports such errors
/// and removes the connection from the queue.
bool concerns_one_connection(int error) noexcept {
    switch (error) {
        case ECONNABORTED:
        case EPROTO:
        case ENOPROTOOPT:
        case EHOSTDOWN:
        case EHOSTUNREACH:
        case ENONET:
        case ENETDOWN:
        case ENETUNREACH:
        case EPERM:  // refused by a firewall rule
            return true;
        default: return false;
    }
}

UniqueFd open_spare() noexcept {
    return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

SocketListener::SocketListener(Reactor& reactor, ListeningSocket socket, MakeStream make_stream, ListenerEvents events)
    : reactor_(reactor),
      socket_(std::move(socket)),
      make_stream_(make_stream),
      calls_(std::make_shared<Calls>(Calls{std::move(events), false})),
      spare_(open_spare()),
      watch_(
          reactor, socket_.descriptor.get(), [this] { accept_some(); }, [] {}),
      pause_alarm_(reactor, [this] { go_on(); }) {
    watch_.wait_readable();
}

SocketListener::~SocketListener() {
    calls_->gone = true;
}

void SocketListener::accept_some() {
    const std::shared_ptr<Calls> calls = calls_;
    Next next = Next::nothing;
    try {
        next = accept_batch(*calls);
    } catch (...) {
        if (!calls->gone) {
            pause_alarm_.set(pause);
        }
        throw;
    }
    switch (next) {
        case Next::wait: watch_.wait_readable(); break;
        case Next::pause: pause_alarm_.set(pause); break;
        case Next::nothing: break;
    }
}

/// Accepts as many connections as one event-loop iteration may.
SocketListener::Next SocketListener::accept_batch(Calls& calls) {
    bool must_pause = false;
    for (std::size_t count = 0; count < limits::accepts_per_turn; ++count) {
        const Outcome outcome = accept_one(calls);
        if (outcome == Outcome::gone) {
            return Next::nothing;
        }
        must_pause = must_pause || outcome == Outcome::turned_away || outcome == Outcome::stuck;
        if (outcome == Outcome::none_left || outcome == Outcome::stuck) {
            break;
        }
    }
    return must_pause ? Next::pause : Next::wait;
}

SocketListener::Outcome SocketListener::accept_one(Calls& calls) {
    UniqueFd peer(::accept4(socket_.descriptor.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (peer.get() >= 0) {
        calls.events.on_accept(make_stream_(reactor_, std::move(peer)));
        return calls.gone ? Outcome::gone : Outcome::again;
    }
    const int error = errno;
    if (error == EAGAIN || error == EWOULDBLOCK) {
        return Outcome::none_left;
    }
    if (error == EINTR) {
        return Outcome::again;
    }
    Outcome outcome = concerns_one_connection(error) ? Outcome::again : Outcome::stuck;
    if (is_lack_of_descriptors(error) && spare_.get() >= 0) {
        outcome = turn_one_away();
        if (outcome == Outcome::none_left) {
            return outcome;
        }
    }
    calls.events.on_error(error);
    return calls.gone ? Outcome::gone : outcome;
}

/// Closes the next new connection with the help of the spare descriptor. Otherwise the peer would wait without a reply,
/// and the socket would stay readable. There may be no connection: without descriptors the system does not check.
SocketListener::Outcome SocketListener::turn_one_away() {
    spare_ = UniqueFd();
    UniqueFd peer(::accept4(socket_.descriptor.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const int error = errno;
    const bool is_accepted = peer.get() >= 0;
    peer = UniqueFd();
    spare_ = open_spare();
    if (is_accepted) {
        return Outcome::turned_away;
    }
    return error == EAGAIN || error == EWOULDBLOCK ? Outcome::none_left : Outcome::stuck;
}

void SocketListener::go_on() {
    if (spare_.get() < 0) {
        spare_ = open_spare();
    }
    accept_some();
}

}  // namespace telegate::transport
