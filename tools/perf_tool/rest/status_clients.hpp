#pragma once

#include "app/gateway.hpp"
#include "config/load.hpp"
#include "log/log.hpp"
#include "plan/plan.hpp"

#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace telegate::perf {

/// A gateway in this process with the default settings on free ports: it samples and publishes while it serves
/// requests. Threads: one. Limits: none. Failure: the constructor throws as Gateway's.
struct RestGateway {
    RestGateway()
        : RestGateway(parse_settings("[rest]\nlisten = 127.0.0.1:0\n"
                                     "[publish \"tcp\"]\nendpoint = tcp://127.0.0.1:*\n"
                                     "[device \"host\"]\ndriver = host\n[device \"simulated\"]\ndriver = simulated\n",
                                     "perf_tool")) {}
    explicit RestGateway(const Settings& settings) : gateway(settings, make_plan(settings), log) { gateway.start(); }

    Log log{"off"};
    Gateway gateway;
};

/// Returns the body of GET /status. Throws std::runtime_error if the request failed.
[[nodiscard]] inline std::string get_status(httplib::Client& client) {
    const auto response = client.Get("/status");
    if (!response || response->status != 200) {
        throw std::runtime_error("GET /status failed");
    }
    return response->body;
}
/// Uses a new connection, as curl does. The address is "127.0.0.1:PORT".
[[nodiscard]] inline std::string status_at(const std::string& address) {
    httplib::Client client("http://" + address);
    return get_status(client);
}

/// Clients that request /status repeatedly, each in a thread: without a pause and with one connection each, or at an
/// interval and with a new connection for each request. Threads: the owner's. Limits: one time per request. Failure:
/// stop() throws std::runtime_error if a request failed.
class StatusClients {
  public:
    StatusClients(const std::string& address, std::size_t clients, std::chrono::nanoseconds interval = {}) {
        (void)status_at(address);  // the library initializes itself during the first request, which is not thread-safe
        while (times_.size() < clients) {
            times_.push_back(std::async(std::launch::async, [=, this] { return request(address, interval); }));
        }
    }
    ~StatusClients() { stopping_ = true; }
    StatusClients(const StatusClients&) = delete;
    StatusClients& operator=(const StatusClients&) = delete;

    /// Returns the time of each request in microseconds. Called once.
    [[nodiscard]] std::vector<double> stop() {
        stopping_ = true;
        std::vector<double> all;
        for (auto& times : times_) {
            std::ranges::copy(times.get(), std::back_inserter(all));
        }
        return all;
    }

  private:
    [[nodiscard]] std::vector<double> request(const std::string& address, std::chrono::nanoseconds interval) const {
        httplib::Client client("http://" + address);
        client.set_keep_alive(true);
        client.set_tcp_nodelay(true);
        std::vector<double> times;
        auto due = std::chrono::steady_clock::now();
        do {
            std::this_thread::sleep_until(due);
            const auto begin = std::chrono::steady_clock::now();
            (void)(interval.count() == 0 ? get_status(client) : status_at(address));
            const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
            times.push_back(time.count());
            due += interval;
        } while (!stopping_.load(std::memory_order_relaxed));
        return times;
    }

    std::atomic<bool> stopping_{false};
    std::vector<std::future<std::vector<double>>> times_;  // the destructor waits for the threads
};

}  // namespace telegate::perf
