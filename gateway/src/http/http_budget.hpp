#pragma once

#include "core/clock.hpp"
#include "http/http_limits.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace telegate {

/// Counters of a server for the metrics.
struct HttpFigures {
    std::size_t response_bytes = 0;       // of created bodies that are not sent yet
    std::uint64_t responses_refused = 0;  // because response_bytes was at its limit
    std::uint64_t requests_refused = 0;   // because no worker was free in time
};

/// The limits and counters that all connections of a server share.
///
/// Threads: any.
/// Limits: those given to the constructor. A body that several connections send counts once; bodies of up to
/// small_body_bytes_max, such as those of health checks, are not counted.
/// Failure: the functions return whether there was capacity. reserve_response() may throw std::bad_alloc.
class HttpBudget {
  public:
    /// With connections_max connections, at most 1 MiB in total.
    static constexpr std::size_t small_body_bytes_max = 16 * 1024;

    /// As long as other failures affect the readiness.
    static constexpr std::chrono::seconds crowd_time{5};

    explicit HttpBudget(const HttpLimits& given) : limits(given) {}

    [[nodiscard]] bool reserve_body(std::size_t bytes) noexcept {
        return reserve(bodies_, bytes, limits.bodies_bytes_max);
    }
    void release_body(std::size_t bytes) noexcept { bodies_ -= bytes; }
    [[nodiscard]] bool reserve_stream() noexcept { return reserve(streams_, 1, limits.streams_max); }
    void release_stream() noexcept { --streams_; }
    [[nodiscard]] std::size_t streams() const noexcept { return streams_; }

    /// Reserves capacity before a connection sends a body that is not small. Returns false and counts a refusal if the
    /// limit is reached; the body must not be sent then.
    [[nodiscard]] bool reserve_response(const std::string& body);
    /// Releases the capacity reserved by reserve_response(), whether or not the whole body was sent. When the total has
    /// fallen from a high level, returns the allocator's free memory to the system, which takes about a millisecond.
    void release_response(std::shared_ptr<const std::string> body) noexcept;

    void count_refused_request() noexcept;
    /// Remembers which client uses most of something, for crowd_time.
    void record_crowd(std::string text);
    /// Returns the last recorded text; "" if it is older than crowd_time.
    [[nodiscard]] std::string crowd() const;
    [[nodiscard]] HttpFigures figures() const;

    const HttpLimits limits;

  private:
    struct Response {
        const std::string* body;
        std::size_t senders;
    };

    static bool reserve(std::atomic<std::size_t>& taken, std::size_t more, std::size_t most) noexcept {
        if (taken.fetch_add(more) + more <= most) {
            return true;
        }
        taken -= more;
        return false;
    }

    std::atomic<std::size_t> bodies_{0};   // bytes of request bodies being received
    std::atomic<std::size_t> streams_{0};  // open streams

    mutable std::mutex mutex_;         // guards the members below
    std::vector<Response> responses_;  // at most one per connection
    HttpFigures figures_;
    std::string crowd_;
    MonoTime crowded_at_{};
    bool was_high_ = false;  // since memory was last returned to the system
};

}  // namespace telegate
