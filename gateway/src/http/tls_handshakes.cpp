#include "http/tls_handshakes.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace telegate {

TlsHandshakes::TlsHandshakes()
    : worker_(
          "tg-tls", [this] { return run_next(); }, Worker::Priority::low) {}

void TlsHandshakes::add(const std::string& client, std::function<void()> step) {
    worker_.start();
    {
        const std::lock_guard lock(mutex_);
        steps_.add(client, std::move(step));
    }
    worker_.call_soon();
}

void TlsHandshakes::stop() noexcept {
    worker_.stop();
    while (run_next() != MonoTime::max()) {
    }
}

/// Runs the next step, if there is one. Returns when to call it again.
MonoTime TlsHandshakes::run_next() noexcept {
    sigset_t broken_pipe;  // OpenSSL writes to the socket without MSG_NOSIGNAL
    ::sigemptyset(&broken_pipe);
    ::sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    std::function<void()> step;  // it may own a connection
    {
        const std::lock_guard lock(mutex_);
        if (steps_.empty()) {
            return MonoTime::max();
        }
        step = steps_.pop();
    }
    step();
    return MonoTime::min();
}

}  // namespace telegate
