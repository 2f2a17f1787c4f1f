#pragma once

#include "buffers/buffer_pool.hpp"

#include <cstddef>
#include <span>

namespace telegate {

/// What a stream has received and nobody has taken yet: contiguous, taken from the front.
///
/// What was taken stays readable where it is until the next room(), lend() or release().
///
/// Threads: one.
/// Limits:  a buffer of the pool's size, or one that doubles with what has arrived of a message larger than that.
/// Failure: room() may throw std::bad_alloc.
class Input {
  public:
    explicit Input(BufferPool& pool) noexcept : pool_(pool) {}
    ~Input() { release(); }
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    [[nodiscard]] std::span<std::byte> unread() const noexcept { return unread_; }
    void consume(std::size_t bytes) noexcept { unread_ = unread_.subspan(bytes); }

    /// For a stream that copies: room behind what is unread, never empty. Moves what is unread to make some.
    [[nodiscard]] std::span<std::byte> room();
    /// The first `bytes` of room() are filled.
    void received(std::size_t bytes) noexcept;
    /// For a stream that lends its own memory, until its next read: only when nothing is unread.
    void lend(std::span<std::byte> bytes) noexcept;
    /// Gives the buffer back when nothing is unread; keeps it otherwise.
    void release() noexcept;

  private:
    void take_larger_buffer();
    void give_back(BufferPool::Buffer buffer, std::size_t bytes) noexcept;
    [[nodiscard]] std::byte* end_of_unread() const noexcept { return unread_.data() + unread_.size(); }
    [[nodiscard]] std::byte* end_of_buffer() const noexcept { return buffer_.get() + buffer_bytes_; }

    BufferPool& pool_;
    BufferPool::Buffer buffer_;
    std::size_t buffer_bytes_ = 0;  // 0: no buffer, and what is unread was lent
    std::span<std::byte> unread_;   // in the buffer, or lent
};

}  // namespace telegate
