#pragma once

#include "core/message.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The oldest request of one peer.
struct PendingRequest {
    std::vector<std::string> envelope;  // frames to send in front of the reply
    std::string_view body;              // valid until the requests change
    std::string fault;                  // "", or why the frames are not a request
};

/// The received requests of one peer that wait for their replies. They are stored as packed frames and parsed one by
/// one, so many short ones take no more memory than the receive buffer that they arrived in.
///
/// Threads: one.
/// Limits: twice the bytes that the peer has sent; the caller adds one receive buffer, or one longer message.
/// Failure: may throw std::bad_alloc.
class PendingRequests {
  public:
    static constexpr std::size_t envelope_bytes_max = 1'024;

    void add(const MessageBatch& batch);
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    /// Returns the oldest request. Requires that there is one.
    [[nodiscard]] PendingRequest front() const;
    void pop_front();
    [[nodiscard]] std::size_t bytes() const noexcept { return packed_.capacity(); }

  private:
    [[nodiscard]] std::vector<std::string_view> front_frames() const;

    std::string packed_;     // each frame's length, with a flag if another one follows, and its bytes
    std::size_t next_ = 0;   // offset of the oldest request
    std::size_t count_ = 0;  // of messages
};

}  // namespace telegate
