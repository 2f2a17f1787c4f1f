#pragma once

#include "core/assert.hpp"
#include "core/page_size.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace telegate {

/// A zero-initialized array mapped directly from the system, so that memory used for a peer does not stay in the
/// allocator after the peer has disconnected. Pages use no memory until first accessed.
///
/// Threads: one. Limits: whole pages. Failure: without memory, the process ends.
template <class T>
class PageArray {
  public:
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

    PageArray() = default;
    explicit PageArray(std::size_t size) : bytes_(whole_pages(size * sizeof(T))) {
        void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            out_of_memory();
        }
        if (bytes_ >= huge_page_bytes()) {
            ::madvise(memory, bytes_, MADV_HUGEPAGE);  // optimization only: failure is ignored
        }
        items_ = static_cast<T*>(memory);
    }
    PageArray(PageArray&& other) noexcept
        : items_(std::exchange(other.items_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    PageArray& operator=(PageArray&& other) noexcept {
        std::swap(items_, other.items_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~PageArray() {
        if (items_ != nullptr) {
            ::munmap(items_, bytes_);
        }
    }

    [[nodiscard]] bool empty() const noexcept { return items_ == nullptr; }
    [[nodiscard]] std::size_t memory_bytes() const noexcept { return bytes_; }
    [[nodiscard]] T& operator[](std::size_t at) noexcept { return items_[at]; }
    [[nodiscard]] const T& operator[](std::size_t at) const noexcept { return items_[at]; }

  private:
    /// A huge page has the pages of one page table, whose entries have 8 bytes: 2 MiB for pages of 4 KiB.
    static std::size_t huge_page_bytes() noexcept { return page_bytes / sizeof(std::uint64_t) * page_bytes; }

    T* items_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace telegate
