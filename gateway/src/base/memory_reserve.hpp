#pragma once

#include <cstddef>

namespace telegate {

/// Memory reserved for use when an allocation fails. The first failed allocation receives the work part, so that the
/// current work can finish. If that is not enough, the next one throws std::bad_alloc and releases the rest for
/// destructors: the destructor of a JSON value allocates, and would end the process if that failed.
///
/// Threads: one at a time.
/// Limits: work_bytes and unwind_bytes of address space, which use no memory until needed. Only operator new uses them.
/// Failure: none; restore() returns whether the reserve is complete.
class MemoryReserve {
  public:
    static constexpr std::size_t work_bytes = 1024 * 1024;  // enough for most responses
    static constexpr std::size_t unwind_bytes = 256 * 1024;

    MemoryReserve() = default;
    ~MemoryReserve();
    MemoryReserve(const MemoryReserve&) = delete;
    MemoryReserve& operator=(const MemoryReserve&) = delete;

    /// Fills the reserve; call before each piece of work.
    [[nodiscard]] bool restore() noexcept;

    /// While an object exists, failed allocations of this thread use the reserve.
    class Use {
      public:
        explicit Use(MemoryReserve& reserve) noexcept;
        ~Use();
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
    };

  private:
    class Mapping {
      public:
        [[nodiscard]] bool restore(std::size_t bytes) noexcept;
        /// Returns false if the reserve was already released.
        bool release(std::size_t bytes) noexcept;

      private:
        void* memory_ = nullptr;
    };

    static void on_failure();

    Mapping work_;
    Mapping unwind_;
};

}  // namespace telegate
