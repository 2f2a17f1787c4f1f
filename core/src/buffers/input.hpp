#pragma once

#include "buffers/buffer_pool.hpp"

#include <cstddef>
#include <span>

namespace telegate {

/// Received data that was not consumed yet: contiguous, consumed from the front.
///
/// Consumed bytes stay readable in place until the next room(), lend() or release().
///
/// Threads: one.
/// Limits: one buffer of the pool's size. For a larger message, the buffer doubles as the message arrives.
/// Failure: room() may throw std::bad_alloc.
class Input {
  public:
    explicit Input(BufferPool& pool) noexcept : pool_(pool) {}
    ~Input() { release(); }
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    [[nodiscard]] std::span<std::byte> unread() const noexcept { return unread_; }
    void consume(std::size_t bytes) noexcept { unread_ = unread_.subspan(bytes); }

    /// Returns the free space after the unread data, never empty. Moves unread data if necessary. For a stream that
    /// copies.
    [[nodiscard]] std::span<std::byte> room();
    /// Marks the first `bytes` of room() as received.
    void received(std::size_t bytes) noexcept;
    /// Shows memory of the stream as unread data, until the stream's next read. Nothing else may be unread.
    void lend(std::span<std::byte> bytes) noexcept;
    /// Returns the buffer to the pool if nothing is unread; otherwise keeps it.
    void release() noexcept;

  private:
    void grow_buffer();
    void return_to_pool(BufferPool::Buffer buffer, std::size_t bytes) noexcept;
    [[nodiscard]] std::byte* end_of_unread() const noexcept { return unread_.data() + unread_.size(); }
    [[nodiscard]] std::byte* end_of_buffer() const noexcept { return buffer_.get() + buffer_bytes_; }

    BufferPool& pool_;
    BufferPool::Buffer buffer_;
    std::size_t buffer_bytes_ = 0;  // 0: no buffer, and unread data is lent
    std::span<std::byte> unread_;   // in the buffer, or lent
};

}  // namespace telegate
