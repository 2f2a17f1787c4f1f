#pragma once

#include "http/http_budget.hpp"
#include "http/http_message.hpp"

#include "core/clock.hpp"

#include <string>

namespace telegate {

/// A response without an end: the data of its pull, framed for the peer, with a comment after a period without data.
///
/// Threads: one at a time.
/// Limits: pulls again only after everything before has been sent.
/// Failure: requires a stream reserved in the budget, which the destructor releases.
class HttpStream {
  public:
    /// Requires that `budget.take_stream()` has returned true.
    HttpStream(StreamPull pull, bool chunked, HttpBudget& budget, MonoTime now);
    ~HttpStream();
    HttpStream(const HttpStream&) = delete;
    HttpStream& operator=(const HttpStream&) = delete;

    /// Notifies the stream that there may be new data.
    void wake() noexcept { fresh_ = true; }
    /// Appends new data to `out`. Returns whether there was any.
    bool fill(std::string& out, MonoTime now);
    /// Appends the end of the stream.
    void finish(std::string& out);
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    /// Returns the time at which fill() has something to send even without a wake-up.
    [[nodiscard]] MonoTime speaks_at() const noexcept { return speaks_at_; }

  private:
    const StreamPull pull_;
    const bool chunked_;
    HttpBudget& budget_;
    bool fresh_ = true;
    bool ended_ = false;
    MonoTime speaks_at_;
    std::string pulled_;
};

}  // namespace telegate
