#include "http/tls_handshakes.hpp"

#include "core/start_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace telegate {

void TlsHandshakes::add(const std::string& client, std::function<void()> step) {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) {
        thread_ = start_thread("tg-tls", [this] { run(); });
    }
    steps_.add(client, std::move(step));
    wake_.notify_one();
}

void TlsHandshakes::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
        wake_.notify_one();
    }
    if (thread_.joinable()) {
        thread_.join();
    }
}

void TlsHandshakes::run() noexcept {
    lower_priority();
    sigset_t broken_pipe;  // OpenSSL writes to the socket without MSG_NOSIGNAL
    ::sigemptyset(&broken_pipe);
    ::sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return is_stopping_ || !steps_.empty(); });
        if (steps_.empty()) {
            return;
        }
        std::function<void()> step = steps_.take();
        lock.unlock();
        step();
        step = nullptr;  // it may own a connection
        lock.lock();
    }
}

}  // namespace telegate
