#pragma once

#include "core/message.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace telegate {

/// The messages of a Subscriber, Router or Dealer one by one. Asks the socket only when a batch is used up, so that one
/// message costs next to nothing.
///
/// Threads: the socket's. Limits: one batch. Failure: as receive_for() of the socket.
template <class Socket>
class MessageReader {
  public:
    /// The socket must outlive it.
    explicit MessageReader(Socket& socket) noexcept : socket_(socket) {}

    /// The next message; none when none has come within `time`. It lasts until the next call, and until the socket is
    /// asked by another way or its reactor turns. Not inside a handler.
    [[nodiscard]] std::optional<Message> next(std::chrono::milliseconds time) {
        if (next_ == batch_.size()) {
            next_ = 0;
            if (!socket_.receive_for(batch_, time)) {
                return std::nullopt;
            }
        }
        return batch_[next_++];
    }
    /// The routing identity of the peer that sent it.
    [[nodiscard]] std::string_view peer() const noexcept { return batch_.peer(); }

  private:
    Socket& socket_;
    MessageBatch batch_;
    std::size_t next_ = 0;
};

}  // namespace telegate
