#pragma once

#include "core/message.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace telegate {

/// Reads the messages of a Subscriber, Router or Dealer one by one. Only calls the socket when a batch is used up, so
/// that one message costs almost nothing.
///
/// Threads: the socket's. Limits: one batch. Failure: as receive_for() of the socket.
template <class Socket>
class MessageReader {
  public:
    /// The socket must outlive the reader.
    explicit MessageReader(Socket& socket) noexcept : socket_(socket) {}

    /// Returns the next message, or nullopt if none arrives within `time`. The message is valid until the next call,
    /// until another function of the socket receives, or until its reactor runs. Must not be called in a handler.
    [[nodiscard]] std::optional<Message> next(std::chrono::milliseconds time) {
        if (next_ == batch_.size()) {
            next_ = 0;
            if (!socket_.receive_for(batch_, time)) {
                return std::nullopt;
            }
        }
        return batch_[next_++];
    }
    /// Returns the routing identity of the peer that sent the message.
    [[nodiscard]] std::string_view peer() const noexcept { return batch_.peer(); }

  private:
    Socket& socket_;
    MessageBatch batch_;
    std::size_t next_ = 0;
};

}  // namespace telegate
