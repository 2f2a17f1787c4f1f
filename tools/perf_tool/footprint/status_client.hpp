#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace telegate::perf {

/// Requests /status with a new connection each time, at an interval, in a thread.
/// Threads: the owner's. Limits: one time per request. Failure: stop() throws std::runtime_error if a request failed.
class StatusClient {
  public:
    /// The address is "127.0.0.1:PORT".
    StatusClient(const std::string& address, std::chrono::nanoseconds interval)
        : times_(std::async(std::launch::async, [=, this] { return request(address, interval); })) {}
    ~StatusClient() { stopping_ = true; }
    StatusClient(const StatusClient&) = delete;
    StatusClient& operator=(const StatusClient&) = delete;

    /// Returns the time of each request in microseconds. Called once.
    [[nodiscard]] std::vector<double> stop() {
        stopping_ = true;
        return times_.get();
    }

  private:
    [[nodiscard]] std::vector<double> request(const std::string& address, std::chrono::nanoseconds interval) const {
        std::vector<double> times;
        auto due = std::chrono::steady_clock::now();
        do {
            std::this_thread::sleep_until(due);
            const auto begin = std::chrono::steady_clock::now();
            httplib::Client client("http://" + address);
            const auto response = client.Get("/status");
            if (!response || response->status != 200) {
                throw std::runtime_error("GET /status failed");
            }
            const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
            times.push_back(time.count());
            due += interval;
        } while (!stopping_.load(std::memory_order_relaxed));
        return times;
    }

    std::atomic<bool> stopping_{false};
    std::future<std::vector<double>> times_;  // the destructor waits for the thread
};

}  // namespace telegate::perf
