#pragma once

#include "http/http_limits.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace telegate {

/// What a server counts, for the metrics.
struct HttpFigures {
    std::size_t response_bytes = 0;       // of bodies that were made and not yet sent
    std::uint64_t responses_refused = 0;  // because there were too many of these bytes
    std::uint64_t requests_refused = 0;   // because no worker came to them in time
};

/// What all connections of a server share.
///
/// Threads: any.
/// Limits:  those given. A body that several connections send is one; bodies of up to small_body_bytes_max, such as
///          those of health checks, are not counted.
/// Failure: the functions return whether there was capacity. take_response() may throw std::bad_alloc.
class HttpBudget {
  public:
    /// All connections together: 1 MiB.
    static constexpr std::size_t small_body_bytes_max = 16 * 1024;

    explicit HttpBudget(const HttpLimits& given) : limits(given) {}

    [[nodiscard]] bool take_body(std::size_t bytes) noexcept { return take(bodies_, bytes, limits.bodies_bytes_max); }
    void give_body(std::size_t bytes) noexcept { bodies_ -= bytes; }
    [[nodiscard]] bool take_stream() noexcept { return take(streams_, 1, limits.streams_max); }
    void give_stream() noexcept { --streams_; }
    [[nodiscard]] std::size_t streams() const noexcept { return streams_; }

    /// Before a connection sends a body that is not small. False, and counted: it must not be sent.
    [[nodiscard]] bool take_response(const std::string& body);
    /// After that, whether or not all of it was sent. When the bytes have fallen from a high level, memory that the
    /// allocator has kept is returned to the system, which costs about a millisecond.
    void give_response(std::shared_ptr<const std::string> body) noexcept;

    void note_refused_request() noexcept;
    [[nodiscard]] HttpFigures figures() const;

    const HttpLimits limits;

  private:
    struct Response {
        const std::string* body;
        std::size_t senders;
    };

    static bool take(std::atomic<std::size_t>& taken, std::size_t more, std::size_t most) noexcept {
        if (taken.fetch_add(more) + more <= most) {
            return true;
        }
        taken -= more;
        return false;
    }

    std::atomic<std::size_t> bodies_{0};   // bytes of bodies that have been begun
    std::atomic<std::size_t> streams_{0};  // open

    mutable std::mutex mutex_;         // guards the rest
    std::vector<Response> responses_;  // one at most for each connection
    HttpFigures figures_;
    bool was_high_ = false;  // since memory was returned
};

}  // namespace telegate
