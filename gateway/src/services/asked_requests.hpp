#pragma once

#include "core/message.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The oldest request of one peer.
struct AskedRequest {
    std::vector<std::string> envelope;  // frames in front of the answer
    std::string_view body;              // until the requests change
    std::string fault;                  // "", or why the frames are no request
};

/// Requests of one peer that have come and wait for their answers. They are kept as frames, packed, and looked at one
/// by one, so that many short ones take no more than the receive buffer that they came in.
///
/// Threads: one.
/// Limits:  twice the bytes that the peer has sent; who fills it takes one receive buffer, or one longer message.
/// Failure: may throw std::bad_alloc.
class AskedRequests {
  public:
    static constexpr std::size_t envelope_bytes_max = 1'024;

    void add(const MessageBatch& batch);
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    /// Of at least one.
    [[nodiscard]] AskedRequest front() const;
    void pop_front();
    [[nodiscard]] std::size_t bytes() const noexcept { return packed_.capacity(); }

  private:
    [[nodiscard]] std::vector<std::string_view> front_frames() const;

    std::string packed_;     // of each frame its length, with a mark when one more follows, and its bytes
    std::size_t next_ = 0;   // where the front one begins
    std::size_t count_ = 0;  // of messages
};

}  // namespace telegate
