#pragma once

#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/subscriber.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace telegate::perf {

/// Subscribers of all topics in one thread.
/// Threads: the owner's; messages() any. Limits: none. Failure: as Subscriber.
class Crowd {
  public:
    Crowd(const std::string& endpoint, std::size_t subscribers) {
        while (subscribers_.size() < subscribers) {
            auto& subscriber = *subscribers_.emplace_back(std::make_unique<Subscriber>(reactor_, SocketOptions()));
            subscriber.subscribe("");
            subscriber.connect(std::get<Endpoint>(parse_endpoint(endpoint)));
            subscriber.set_on_readable([this, &subscriber] {
                while (subscriber.receive(batch_)) {
                    messages_.fetch_add(batch_.size(), std::memory_order_relaxed);
                }
            });
        }
        thread_ = std::thread([this] { reactor_.run(); });
    }
    ~Crowd() {
        reactor_.stop();
        thread_.join();
    }
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

}  // namespace telegate::perf
