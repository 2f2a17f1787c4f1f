#pragma once

#include "http/http_budget.hpp"
#include "http/http_message.hpp"

#include "core/clock.hpp"

#include <cstddef>
#include <string>

namespace telegate {

/// An answer without end: what its pull gives, framed for the peer, with a comment after some silence.
///
/// Threads: one at a time.
/// Limits:  one pull's worth is asked for when all before it has left.
/// Failure: the constructor is not called without a place of the budget, which the destructor gives back.
class HttpStream {
  public:
    /// `budget.take_stream()` has said yes.
    HttpStream(StreamPull pull, bool chunked, HttpBudget& budget, MonoTime now);
    ~HttpStream();
    HttpStream(const HttpStream&) = delete;
    HttpStream& operator=(const HttpStream&) = delete;

    /// There may be something new.
    void wake() noexcept { fresh_ = true; }
    /// Appends what there is to `out`. Whether there was anything.
    bool fill(std::string& out, MonoTime now);
    /// Appends the end of the stream.
    void finish(std::string& out);
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    /// When fill() has something to say though nobody has woken it.
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
