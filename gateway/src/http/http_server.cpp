#include "http/http_server.hpp"

#include "base/memory_reserve.hpp"
#include "base/setting_failure.hpp"

#include "core/start_thread.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <limits>
#include <new>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

// What an epoll event is about; connections have the numbers above.
constexpr std::uint64_t id_stop = 0;
constexpr std::uint64_t id_wake = 1;
constexpr std::uint64_t id_first_listener = 2;
constexpr std::size_t listeners_max = 3;
constexpr std::uint64_t id_first_connection = id_first_listener + listeners_max;

constexpr std::size_t accepts_per_turn = 16;
constexpr std::chrono::milliseconds accept_pause{100};
constexpr int memory_pause_ms = 100;  // until there may be some again
constexpr Duration::rep never = std::numeric_limits<Duration::rep>::max();
// Both directions for the whole life of a connection, told once each time that something changes: no call to the
// kernel is needed between two requests.
constexpr std::uint32_t connection_events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

int checked(int descriptor, const char* what) {
    if (descriptor < 0) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    return descriptor;
}

std::vector<HttpListener> listeners_of(const HttpServerOptions& options) {
    std::vector<HttpListener> listeners;
    if (options.adopted_socket >= 0) {
        listeners.push_back(HttpListener::adopt(options.adopted_socket));
    } else if (!options.host.empty()) {
        listeners.push_back(
            get_for("[rest] listen", "", [&] { return HttpListener::on_tcp(options.host, options.port); }));
    }
    if (!options.unix_socket.empty()) {
        listeners.push_back(get_for("[rest] unix_socket", options.unix_socket,
                                    [&] { return HttpListener::on_unix(options.unix_socket); }));
    }
    return listeners;
}

Duration::rep count_of(MonoTime time) noexcept {
    return time.time_since_epoch().count();
}

}  // namespace

HttpServer::HttpServer(HttpServerOptions options, HttpCalls calls)
    : options_(std::move(options)),
      calls_(std::move(calls)),
      budget_(options_.limits),
      listeners_(listeners_of(options_)),
      places_(budget_, options_.workers, id_first_connection),
      accept_again_(never),
      streams_due_(never),
      streams_until_(never) {
    try {
        epoll_ = checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
        stop_event_ = checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
        wake_event_ = checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
    } catch (...) {
        ::close(stop_event_);
        ::close(epoll_);
        throw;
    }
    // The stop stays signalled and wakes all workers; each wake-up for streams wakes one, and is never read.
    watch(stop_event_, EPOLL_CTL_ADD, EPOLLIN, id_stop);
    watch(wake_event_, EPOLL_CTL_ADD, EPOLLIN | EPOLLET, id_wake);
    for (std::size_t index = 0; index < listeners_.size(); ++index) {
        watch(listeners_[index].socket(), EPOLL_CTL_ADD, EPOLLIN | EPOLLONESHOT, id_first_listener + index);
    }
}

HttpServer::~HttpServer() {
    stop();
    ::close(wake_event_);
    ::close(stop_event_);
    ::close(epoll_);
}

void HttpServer::start() {
    const std::size_t workers = listeners_.empty() ? 0 : options_.workers;
    for (std::size_t index = 0; index < workers; ++index) {
        Worker& worker = *workers_.emplace_back(std::make_unique<Worker>(calls_, options_.limits));
        const std::lock_guard lock(end_mutex_);
        worker.thread = start_thread("tg-http-" + std::to_string(index), [this, &worker] { run(worker); });
        ++workers_running_;
    }
}

void HttpServer::stop() {
    begin_stop();
    for (const auto& worker : workers_) {
        if (worker->thread.joinable()) {
            worker->thread.join();
        }
    }
    workers_.clear();
    close_all();
}

void HttpServer::begin_stop() noexcept {
    stopping_ = true;
    ::eventfd_write(stop_event_, 1);
}

void HttpServer::close_all() noexcept {
    for (HttpListener& listener : listeners_) {
        listener.close();
    }
    places_.clear(std::chrono::steady_clock::now());
}

void HttpServer::stop_after_streams(MonoTime until, std::function<void()> done) {
    {
        const std::lock_guard lock(end_mutex_);
        if (workers_running_ > 0) {
            on_stopped_ = std::exchange(done, nullptr);
        }
    }
    if (done) {
        return done();
    }
    streams_until_ = count_of(until);
    ::eventfd_write(wake_event_, 1);  // a worker sees to it, and waits until that time
}

void HttpServer::wake_streams() noexcept {
    // A load in place of the exchange could come before the samples that it is to tell of.
    if (budget_.streams() == 0 || wake_pending_.exchange(true)) {
        return;
    }
    ::eventfd_write(wake_event_, 1);
}

std::string HttpServer::address() const {
    return listeners_.empty() ? std::string() : listeners_.front().address();
}

std::vector<std::string> HttpServer::urls() const {
    const bool secure = options_.tls && options_.tls() != nullptr;
    std::vector<std::string> texts;
    for (const HttpListener& listener : listeners_) {
        const char* const scheme = !listener.over_tcp() ? "" : secure ? "https://" : "http://";
        texts.push_back(scheme + listener.address());
    }
    return texts;
}

void HttpServer::run(Worker& worker) noexcept {
    MemoryReserve reserve;
    const MemoryReserve::Use use(reserve);
    while (!stopping_) {
        if (reserve.restore()) {
            work(worker);
        } else {
            pollfd stop{stop_event_, POLLIN, 0};
            ::poll(&stop, 1, memory_pause_ms);
            note_streams(std::chrono::steady_clock::now());
        }
    }
    note_worker_end();
}

void HttpServer::note_worker_end() noexcept {
    std::function<void()> done;
    {
        const std::lock_guard lock(end_mutex_);
        if (--workers_running_ > 0) {
            return;
        }
        done = std::exchange(on_stopped_, nullptr);
    }
    close_all();
    if (done) {
        done();
    }
}

void HttpServer::work(Worker& worker) noexcept {
    epoll_event event{};
    const int events = ::epoll_wait(epoll_, &event, 1, wait_ms(std::chrono::steady_clock::now()));
    const std::uint64_t id = event.data.u64;
    if (events == 1 && id >= id_first_connection) {
        serve(id, {.ended = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0}, worker.engine);
    } else if (events == 1 && id >= id_first_listener) {
        accept_waiting(id - id_first_listener);
    } else if (events == 1 && id == id_wake) {
        put_off_streams(MonoTime(Duration(streams_served_)) + options_.limits.stream_interval);
    }
    const MonoTime now = std::chrono::steady_clock::now();
    places_.sweep(now, worker.ids);
    for (const HttpPlaces::Id speaking : worker.ids) {
        serve(speaking, {}, worker.engine);
    }
    serve_streams(now, worker);
    note_streams(now);
    listen_again(now);
}

void HttpServer::accept_waiting(std::size_t listener) noexcept {
    const MonoTime now = std::chrono::steady_clock::now();
    for (std::size_t accepts = 0; accepts < accepts_per_turn; ++accepts) {
        HttpListener::Accepted client = listeners_[listener].accept();
        if (client.outcome == HttpListener::Outcome::accepted) {
            add(listeners_[listener], std::move(client), now);
            continue;
        }
        if (client.outcome == HttpListener::Outcome::exhausted) {
            accept_again_ = count_of(now + accept_pause);  // unwatched until then: it would be ready all the time
            return;
        }
        break;
    }
    watch(listeners_[listener].socket(), EPOLL_CTL_MOD, EPOLLIN | EPOLLONESHOT, id_first_listener + listener);
}

void HttpServer::add(const HttpListener& listener, HttpListener::Accepted&& client, MonoTime now) noexcept {
    try {
        const auto tls = options_.tls && listener.over_tcp() ? options_.tls() : nullptr;
        auto session = tls ? tls->open(client.socket.get()) : nullptr;
        auto socket = std::make_unique<HttpSocket>(std::move(client.socket), std::move(session));
        auto connection = std::make_unique<HttpConnection>(std::move(socket), std::move(client.peer), budget_, now);
        places_.add(std::move(connection), now, [this](int descriptor, HttpPlaces::Id id) {
            watch(descriptor, EPOLL_CTL_ADD, connection_events, id);
        });
    } catch (const std::bad_alloc&) {  // the connection closes
    }
}

void HttpServer::serve(HttpPlaces::Id id, HttpPlaces::News news, HttpEngine& engine) noexcept {
    HttpPlaces::Work work = places_.take(id, news);
    while (work.connection != nullptr) {
        work = places_.give_back(work, serve(work, engine));
        if (stopping_) {
            return;
        }
    }
}

HttpConnection::Wants HttpServer::serve(const HttpPlaces::Work& work, HttpEngine& engine) noexcept {
    HttpConnection& connection = *work.connection;
    const bool streamed = connection.streaming();
    if (work.news.woken) {
        connection.wake_stream();
    }
    auto wants = HttpConnection::Wants::close;
    try {
        wants =
            connection.serve(engine, {std::chrono::steady_clock::now(), stopping_, work.news.ended, work.may_answer});
    } catch (const std::exception&) {  // out of memory, or a stream's source failed; the others go on
    }
    if (wants == HttpConnection::Wants::again) {  // tells a worker again that it can be written to
        watch(connection.descriptor(), EPOLL_CTL_MOD, connection_events, work.id);
    }
    if (!streamed && connection.streaming()) {  // a wake-up may have crossed with its beginning
        put_off_streams(std::chrono::steady_clock::now() + options_.limits.stream_interval);
    }
    return wants;
}

void HttpServer::serve_streams(MonoTime now, Worker& worker) noexcept {
    Duration::rep due = streams_due_;
    if (count_of(now) < due || !streams_due_.compare_exchange_strong(due, never)) {
        return;
    }
    streams_served_ = count_of(now);
    wake_pending_.exchange(false);
    places_.find_streams(worker.ids);
    for (const HttpPlaces::Id id : worker.ids) {
        serve(id, {.woken = true}, worker.engine);
    }
}

// A time that is set already stays, when it comes before.
void HttpServer::put_off_streams(MonoTime until) noexcept {
    Duration::rep due = streams_due_;
    while (count_of(until) < due && !streams_due_.compare_exchange_weak(due, count_of(until))) {
    }
}

void HttpServer::note_streams(MonoTime now) noexcept {
    const Duration::rep until = streams_until_;
    if (until != never && (budget_.streams() == 0 || count_of(now) >= until)) {
        begin_stop();
    }
}

void HttpServer::listen_again(MonoTime now) noexcept {
    Duration::rep again = accept_again_;
    if (count_of(now) < again || !accept_again_.compare_exchange_strong(again, never)) {
        return;
    }
    for (std::size_t index = 0; index < listeners_.size(); ++index) {
        watch(listeners_[index].socket(), EPOLL_CTL_MOD, EPOLLIN | EPOLLONESHOT, id_first_listener + index);
    }
}

// Until the next deadline; for ever when there is none, so that a server without clients costs nothing.
int HttpServer::wait_ms(MonoTime now) const noexcept {
    const Duration::rep next =
        std::min({count_of(places_.next_due()), accept_again_.load(), streams_due_.load(), streams_until_.load()});
    if (next == never) {
        return -1;
    }
    const Duration left(next - count_of(now));
    return static_cast<int>(std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 0,
                                                     std::numeric_limits<int>::max()));
}

void HttpServer::watch(int descriptor, int operation, std::uint32_t events, std::uint64_t id) const noexcept {
    epoll_event event{};
    event.events = events;
    event.data.u64 = id;
    ::epoll_ctl(epoll_, operation, descriptor, &event);
}

}  // namespace telegate
