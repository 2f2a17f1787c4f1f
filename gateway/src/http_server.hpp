#pragma once

#include "http_connection.hpp"
#include "http_listener.hpp"

#include "core/clock.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace telegate {

struct HttpServerOptions {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  // 0: any free one
    std::size_t workers = 2;
    HttpLimits limits{};
};

/// Serves HTTP/1.1 from a fixed few threads that all wait in one epoll set. A worker is busy only while it answers: a
/// client that is idle, slow to ask or slow to read holds a descriptor until its deadline, never a worker.
///
/// Threads: constructor, start() and stop() the main thread; the handler runs on the workers, `tg-http-0` and up.
/// Limits:  see HttpLimits. When connections_max are open, the one nearest its deadline gives way to a new one.
/// Failure: the constructor throws std::system_error; after that every failure ends one connection only.
class HttpServer {
  public:
    /// Listens; clients wait in the kernel's backlog until start().
    HttpServer(HttpServerOptions options, HttpHandler handler);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    void start();
    /// Lets every worker finish the answer in hand, then closes everything. Idempotent.
    void stop();
    /// There may be something new to pull for event streams. Threads: any.
    void wake_streams() noexcept {}
    [[nodiscard]] const std::string& address() const noexcept { return listener_.address(); }

  private:
    struct Entry {
        std::unique_ptr<HttpConnection> connection;
        bool busy = false;  // a worker is in serve()
    };

    void run(std::size_t worker);
    void accept_waiting();
    void add(int client, MonoTime now);
    void serve(std::uint64_t id, HttpEngine& engine);
    void end(std::uint64_t id);
    bool close_nearest_deadline();
    void close_overdue(MonoTime now);
    [[nodiscard]] int wait_ms(MonoTime now);
    void watch(int descriptor, int operation, std::uint32_t events, std::uint64_t id) const noexcept;

    const HttpServerOptions options_;
    const HttpHandler handler_;
    HttpListener listener_;
    int epoll_ = -1;
    int stop_event_ = -1;
    std::atomic<bool> stopping_{false};
    std::vector<std::thread> workers_;

    std::mutex mutex_;                                  // guards the rest; never held while a request is answered
    std::unordered_map<std::uint64_t, Entry> entries_;  // by id, which no later connection has again
    std::uint64_t id_next_;
    MonoTime accept_again_ = MonoTime::max();  // after running out of descriptors
};

}  // namespace telegate
