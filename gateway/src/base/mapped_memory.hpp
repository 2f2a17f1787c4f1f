#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace telegate {

/// An array of zeros. Each page uses memory only after its first write.
///
/// Threads: like an array.
/// Limits: none.
/// Failure: the constructor throws std::bad_alloc if the address space is exhausted.
template <class Item>
class MappedMemory {
  public:
    explicit MappedMemory(std::size_t items)
        : bytes_(items * sizeof(Item)),
          memory_(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        if (memory_ == MAP_FAILED) {
            throw std::bad_alloc();
        }
    }
    ~MappedMemory() { ::munmap(memory_, bytes_); }
    MappedMemory(const MappedMemory&) = delete;
    MappedMemory& operator=(const MappedMemory&) = delete;

    [[nodiscard]] Item* data() const noexcept { return static_cast<Item*>(memory_); }
    [[nodiscard]] Item& operator[](std::size_t index) const noexcept { return data()[index]; }

  private:
    const std::size_t bytes_;
    void* const memory_;
};

}  // namespace telegate
