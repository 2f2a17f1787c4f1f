#pragma once

#include "http/http_engine.hpp"
#include "http/http_limits.hpp"
#include "http/http_listener.hpp"
#include "http/http_places.hpp"

#include "core/clock.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace telegate {

struct HttpServerOptions {
    std::string host = "127.0.0.1";  // "": no TCP
    std::uint16_t port = 0;          // 0: any free one
    std::size_t workers = 3;         // all but one may be answering what does not go first, two at least
    HttpLimits limits{};
    std::string unix_socket = {};  // a path; "": none
    int adopted_socket = -1;       // one that listens already, in place of host and port; -1: none
    /// What TLS connections are made with, asked for each TCP client; none or nullptr: no TLS.
    std::function<std::shared_ptr<const TlsContext>()> tls = {};
};

/// Serves HTTP/1.1 from a fixed few threads that all wait in one epoll set. A worker is busy only while it answers: a
/// client that is idle, slow to ask or slow to read holds a descriptor until its deadline, never a worker. Answers may
/// wait for other threads; one worker is always left for what goes first, see HttpPlaces.
///
/// Threads: constructor, start() and stop() the main thread; the handler runs on the workers, `tg-http-0` and up.
/// Limits:  see HttpLimits. When connections_max are open, the one with the least claim gives way to a new one.
/// Failure: the constructor and start() throw std::system_error or std::bad_alloc; after that every failure, lack of
/// memory too, ends one connection only.
class HttpServer {
  public:
    /// Listens; clients wait in the kernel's backlog until start().
    HttpServer(HttpServerOptions options, HttpCalls calls);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    void start();
    /// Lets every worker finish the answer in hand, then closes everything. Idempotent.
    void stop();
    /// Stops by itself when no event stream is open, at the latest at that time. The last worker calls `done` at its
    /// end; when there is none, it is called at once. Threads: any, after start().
    void stop_after_streams(MonoTime until, std::function<void()> done);
    /// There may be something new to pull for event streams. Threads: any; a look at one or two numbers, and at most
    /// one system call for each time that the streams are served.
    void wake_streams() noexcept;
    /// Open now. Threads: any.
    [[nodiscard]] std::size_t streams() const noexcept { return budget_.streams(); }
    [[nodiscard]] HttpFigures figures() const { return budget_.figures(); }
    /// Of the first listener; "" when there is none.
    [[nodiscard]] std::string address() const;
    /// "http://127.0.0.1:8080", "https://..." or "unix:/run/x.sock", of each listener.
    [[nodiscard]] std::vector<std::string> urls() const;

  private:
    struct Worker {
        Worker(const HttpCalls& calls, const HttpLimits& limits) : engine(calls, limits.body_bytes_max) {
            ids.reserve(limits.connections_max + limits.streams_max);
        }

        HttpEngine engine;
        std::vector<HttpPlaces::Id> ids;  // memory for those that it is about to serve
        std::thread thread;
    };

    void run(Worker& worker) noexcept;
    void work(Worker& worker) noexcept;
    void accept_waiting(std::size_t listener) noexcept;
    void add(const HttpListener& listener, HttpListener::Accepted&& client, MonoTime now) noexcept;
    void serve(HttpPlaces::Id id, HttpPlaces::News news, HttpEngine& engine) noexcept;
    HttpConnection::Wants serve(const HttpPlaces::Work& work, HttpEngine& engine) noexcept;
    void serve_streams(MonoTime now, Worker& worker) noexcept;
    void put_off_streams(MonoTime until) noexcept;
    void note_streams(MonoTime now) noexcept;
    void begin_stop() noexcept;
    void note_worker_end() noexcept;
    void close_all() noexcept;
    void listen_again(MonoTime now) noexcept;
    void watch(int descriptor, int operation, std::uint32_t events, std::uint64_t id) const noexcept;
    [[nodiscard]] int wait_ms(MonoTime now) const noexcept;

    const HttpServerOptions options_;
    const HttpCalls calls_;
    HttpBudget budget_;
    std::vector<HttpListener> listeners_;
    HttpPlaces places_;
    int epoll_ = -1;
    int stop_event_ = -1;
    int wake_event_ = -1;
    std::atomic<bool> stopping_{false};
    std::vector<std::unique_ptr<Worker>> workers_;

    // Times as counts of the monotonic clock; the largest for never.
    std::atomic<Duration::rep> accept_again_;  // after running out of descriptors
    std::atomic<Duration::rep> streams_due_;   // when a worker is to look at the streams
    std::atomic<Duration::rep> streams_served_{0};
    std::atomic<bool> wake_pending_{false};
    std::atomic<Duration::rep> streams_until_;  // when to stop though some are open

    std::mutex end_mutex_;  // guards the next two
    std::size_t workers_running_ = 0;
    std::function<void()> on_stopped_;
};

}  // namespace telegate
