#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace telegate {

/// An array for numbered items, of which only the last `size` are needed.
/// Threads: like an array. Limits: `size`. Failure: none.
template <class T, std::size_t size>
class Ring {
  public:
    static_assert((size & (size - 1)) == 0, "must be a power of two, so that no division is needed");

    [[nodiscard]] T& operator[](std::uint64_t number) noexcept { return items_[number & (size - 1)]; }
    [[nodiscard]] const T& operator[](std::uint64_t number) const noexcept { return items_[number & (size - 1)]; }

  private:
    std::array<T, size> items_{};
};

}  // namespace telegate
