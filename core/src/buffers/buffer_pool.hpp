#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace telegate {

/// A pool of equally sized receive buffers. A session borrows a buffer only while it has unread data, so that idle
/// peers use no buffer memory.
///
/// Threads: one.
/// Limits: keeps up to spare_max unused buffers of up to spare_bytes_max together, but at least one; any number may be
/// borrowed.
/// Failure: acquire() may throw std::bad_alloc.
class BufferPool {
  public:
    using Buffer = std::unique_ptr<std::byte[]>;

    explicit BufferPool(std::size_t buffer_bytes)
        : buffer_bytes_(buffer_bytes),
          spare_count_max_(std::clamp(spare_bytes_max / buffer_bytes, std::size_t{1}, spare_max)) {
        spare_.reserve(spare_count_max_);
    }

    [[nodiscard]] std::size_t buffer_bytes() const noexcept { return buffer_bytes_; }
    [[nodiscard]] Buffer acquire() {
        if (spare_.empty()) {
            return std::make_unique_for_overwrite<std::byte[]>(buffer_bytes_);
        }
        Buffer buffer = std::move(spare_.back());
        spare_.pop_back();
        return buffer;
    }
    void release(Buffer buffer) noexcept {
        if (spare_.size() < spare_count_max_) {
            spare_.push_back(std::move(buffer));
        }
    }

  private:
    static constexpr std::size_t spare_max = 4;
    static constexpr std::size_t spare_bytes_max = 1024 * 1024;

    const std::size_t buffer_bytes_;
    const std::size_t spare_count_max_;
    std::vector<Buffer> spare_;
};

}  // namespace telegate
