#pragma once

#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/subscriber.hpp"

#include <netinet/in.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace telegate::perf {

/// Subscribers of everything, all on one thread, that take what comes.
/// Threads: the owner's; messages() any. Limits: none. Failure: as Subscriber says.
class Crowd {
  public:
    Crowd(const std::string& endpoint, std::size_t subscribers);
    ~Crowd();
    Crowd(const Crowd&) = delete;
    Crowd& operator=(const Crowd&) = delete;

    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_.load(std::memory_order_relaxed); }

  private:
    Reactor reactor_;
    std::vector<std::unique_ptr<Subscriber>> subscribers_;
    MessageBatch batch_;
    std::atomic<std::uint64_t> messages_{0};
    std::thread thread_;
};

/// What GET /status answers at "127.0.0.1:43567", without the head.
/// Threads: any. Limits: waits ten seconds for each part of the answer. Failure: throws std::runtime_error when it was
/// not 200, or when there was no connection.
[[nodiscard]] std::string status_at(const std::string& address);

/// Asks for GET /status at a steady pace, each time with a connection of its own, as curl does.
/// Threads: the owner's. Limits: one time per question. Failure: stop() throws std::runtime_error when an answer was
/// not 200, or when there was no connection.
class StatusPoller {
  public:
    StatusPoller(const std::string& address, std::chrono::nanoseconds interval);
    ~StatusPoller();
    StatusPoller(const StatusPoller&) = delete;
    StatusPoller& operator=(const StatusPoller&) = delete;

    /// From connecting to the end of the answer, in microseconds, each question one.
    [[nodiscard]] std::vector<double> stop();

  private:
    void run(const sockaddr_in& address, std::chrono::nanoseconds interval);

    std::atomic<bool> stopping_{false};
    std::vector<double> answer_us_;
    std::string fault_;
    std::thread thread_;
};

}  // namespace telegate::perf
