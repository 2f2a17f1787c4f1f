#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace telegate {

/// Receive buffers of one size that sessions borrow while they have something unread, so that idle peers cost none.
///
/// Threads: one. Limits: keeps spare_max buffers; any number may be out. Failure: take() may throw std::bad_alloc.
class BufferPool {
  public:
    using Buffer = std::unique_ptr<std::byte[]>;

    explicit BufferPool(std::size_t buffer_bytes) : buffer_bytes_(buffer_bytes) { spare_.reserve(spare_max); }

    [[nodiscard]] std::size_t buffer_bytes() const noexcept { return buffer_bytes_; }
    [[nodiscard]] Buffer take() {
        if (spare_.empty()) {
            return std::make_unique_for_overwrite<std::byte[]>(buffer_bytes_);
        }
        Buffer buffer = std::move(spare_.back());
        spare_.pop_back();
        return buffer;
    }
    void give_back(Buffer buffer) noexcept {
        if (spare_.size() < spare_max) {
            spare_.push_back(std::move(buffer));
        }
    }

  private:
    static constexpr std::size_t spare_max = 4;

    const std::size_t buffer_bytes_;
    std::vector<Buffer> spare_;
};

}  // namespace telegate
