#include "buffers/input.hpp"

#include "core/assert.hpp"

#include <cstring>
#include <utility>

namespace telegate {

std::span<std::byte> Input::room() {
    if (unread_.size() >= buffer_bytes_) {
        grow_buffer();
    } else if (unread_.empty()) {
        unread_ = {buffer_.get(), 0};
    } else if (static_cast<std::size_t>(end_of_buffer() - end_of_unread()) < buffer_bytes_ / 2 &&
               unread_.data() != buffer_.get()) {
        // Only when little space is left: a short read costs less than moving a whole message for every read.
        std::memmove(buffer_.get(), unread_.data(), unread_.size());
        unread_ = {buffer_.get(), unread_.size()};
    }
    return {end_of_unread(), end_of_buffer()};
}

void Input::received(std::size_t bytes) noexcept {
    TELEGATE_ASSERT(bytes <= static_cast<std::size_t>(end_of_buffer() - end_of_unread()));
    unread_ = {unread_.data(), unread_.size() + bytes};
}

void Input::lend(std::span<std::byte> bytes) noexcept {
    TELEGATE_ASSERT(unread_.empty());
    release();
    unread_ = bytes;
}

void Input::release() noexcept {
    if (!unread_.empty()) {
        return;
    }
    unread_ = {};
    return_to_pool(std::exchange(buffer_, nullptr), std::exchange(buffer_bytes_, 0));
}

/// Acquires the first buffer, or a larger one when unread data fills the current one.
void Input::grow_buffer() {
    const bool is_usual = unread_.size() < pool_.buffer_bytes();
    const std::size_t bytes = is_usual ? pool_.buffer_bytes() : 2 * unread_.size();
    BufferPool::Buffer buffer = is_usual ? pool_.acquire() : std::make_unique_for_overwrite<std::byte[]>(bytes);
    if (!unread_.empty()) {
        std::memcpy(buffer.get(), unread_.data(), unread_.size());
    }
    unread_ = {buffer.get(), unread_.size()};
    return_to_pool(std::exchange(buffer_, std::move(buffer)), std::exchange(buffer_bytes_, bytes));
}

void Input::return_to_pool(BufferPool::Buffer buffer, std::size_t bytes) noexcept {
    if (bytes == pool_.buffer_bytes()) {
        pool_.release(std::move(buffer));
    }
}

}  // namespace telegate
