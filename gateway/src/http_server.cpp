#include "http_server.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace telegate {
namespace {

// What an epoll event is about; connections have the numbers above.
constexpr std::uint64_t id_stop = 0;
constexpr std::uint64_t id_listener = 1;
constexpr std::uint64_t id_first_connection = 2;

constexpr std::size_t accepts_per_turn = 16;
constexpr std::chrono::milliseconds accept_pause{100};

int checked(int descriptor, const char* what) {
    if (descriptor < 0) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    return descriptor;
}

}  // namespace

HttpServer::HttpServer(HttpServerOptions options, HttpHandler handler)
    : options_(std::move(options)),
      handler_(std::move(handler)),
      listener_(options_.host, options_.port),
      id_next_(id_first_connection) {
    epoll_ = checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    stop_event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop_event_ < 0) {
        const int error = errno;
        ::close(epoll_);
        throw std::system_error(error, std::generic_category(), "eventfd");
    }
    // One worker per event, except for the stop, which stays signalled and wakes them all.
    watch(stop_event_, EPOLL_CTL_ADD, EPOLLIN, id_stop);
    watch(listener_.socket(), EPOLL_CTL_ADD, EPOLLIN | EPOLLONESHOT, id_listener);
}

HttpServer::~HttpServer() {
    stop();
    ::close(stop_event_);
    ::close(epoll_);
}

void HttpServer::start() {
    for (std::size_t worker = 0; worker < options_.workers; ++worker) {
        workers_.emplace_back([this, worker] { run(worker); });
    }
}

void HttpServer::stop() {
    if (stopping_.exchange(true)) {
        return;
    }
    ::eventfd_write(stop_event_, 1);
    for (std::thread& worker : workers_) {
        worker.join();
    }
    listener_.close();
    entries_.clear();
}

void HttpServer::run(std::size_t worker) {
    ::pthread_setname_np(::pthread_self(), ("tg-http-" + std::to_string(worker)).c_str());
    HttpEngine engine(handler_, options_.limits.body_bytes_max);
    while (!stopping_) {
        epoll_event event{};
        const int events = ::epoll_wait(epoll_, &event, 1, wait_ms(std::chrono::steady_clock::now()));
        if (events == 1 && event.data.u64 == id_listener) {
            accept_waiting();
        } else if (events == 1 && event.data.u64 != id_stop) {
            serve(event.data.u64, engine);
        }
        close_overdue(std::chrono::steady_clock::now());
    }
}

void HttpServer::accept_waiting() {
    const MonoTime now = std::chrono::steady_clock::now();
    for (std::size_t accepts = 0; accepts < accepts_per_turn; ++accepts) {
        const HttpListener::Accepted client = listener_.accept();
        if (client.outcome == HttpListener::Outcome::accepted) {
            add(client.socket, now);
            continue;
        }
        if (client.outcome == HttpListener::Outcome::exhausted) {
            const std::lock_guard lock(mutex_);
            accept_again_ = now + accept_pause;  // the listener stays unwatched: it would be ready all the time
            return;
        }
        break;
    }
    watch(listener_.socket(), EPOLL_CTL_MOD, EPOLLIN | EPOLLONESHOT, id_listener);
}

void HttpServer::add(int client, MonoTime now) {
    auto connection = std::make_unique<HttpConnection>(client, options_.limits, now);
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= options_.limits.connections_max && !close_nearest_deadline()) {
        return;
    }
    const std::uint64_t id = id_next_++;
    entries_.emplace(id, Entry{std::move(connection), false});
    watch(client, EPOLL_CTL_ADD, EPOLLIN | EPOLLONESHOT, id);
}

void HttpServer::serve(std::uint64_t id, HttpEngine& engine) {
    HttpConnection* connection = nullptr;
    {
        const std::lock_guard lock(mutex_);
        const auto found = entries_.find(id);
        if (found == entries_.end()) {
            return;  // closed at its deadline just now
        }
        found->second.busy = true;
        connection = found->second.connection.get();
    }
    auto wants = HttpConnection::Wants::close;
    try {
        wants = connection->serve(engine, std::chrono::steady_clock::now(), stopping_);
    } catch (const std::bad_alloc&) {  // this client's request was too much just now; the others go on
    }
    if (wants == HttpConnection::Wants::close) {
        end(id);
        return;
    }
    const std::lock_guard lock(mutex_);
    entries_.at(id).busy = false;
    watch(connection->socket(), EPOLL_CTL_MOD,
          (wants == HttpConnection::Wants::read ? EPOLLIN : EPOLLOUT) | EPOLLONESHOT, id);
}

void HttpServer::end(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    entries_.erase(id);  // closing the descriptor takes it out of the epoll set
}

// With mutex_ held. Whether there was one to close.
bool HttpServer::close_nearest_deadline() {
    auto nearest = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
        if (!entry->second.busy && (nearest == entries_.end() ||
                                    entry->second.connection->deadline() < nearest->second.connection->deadline())) {
            nearest = entry;
        }
    }
    if (nearest == entries_.end()) {
        return false;
    }
    entries_.erase(nearest);
    return true;
}

void HttpServer::close_overdue(MonoTime now) {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [now](const auto& entry) {
        return !entry.second.busy && entry.second.connection->deadline() <= now;
    });
    if (accept_again_ <= now) {
        accept_again_ = MonoTime::max();
        watch(listener_.socket(), EPOLL_CTL_MOD, EPOLLIN | EPOLLONESHOT, id_listener);
    }
}

// Until the next deadline; for ever when there is none, so that a server without clients costs nothing.
int HttpServer::wait_ms(MonoTime now) {
    const std::lock_guard lock(mutex_);
    MonoTime next = accept_again_;
    for (const auto& [id, entry] : entries_) {
        if (!entry.busy) {
            next = std::min(next, entry.connection->deadline());
        }
    }
    if (next == MonoTime::max()) {
        return -1;
    }
    return static_cast<int>(
        std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(next - now).count(), 0));
}

void HttpServer::watch(int descriptor, int operation, std::uint32_t events, std::uint64_t id) const noexcept {
    epoll_event event{};
    event.events = events;
    event.data.u64 = id;
    ::epoll_ctl(epoll_, operation, descriptor, &event);
}

}  // namespace telegate
