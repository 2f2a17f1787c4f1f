#pragma once

#include <cstddef>

namespace telegate {

/// Memory that is kept for the moment when there is no other. The first allocation that fails gets it, so that the work
/// in hand is finished. When that is not enough, the next one throws std::bad_alloc, and the rest is for destructors:
/// the one of a JSON value allocates, and would end the process if it could not.
///
/// Threads: one at a time.
/// Limits:  work_bytes and unwind_bytes of address space, which take no memory while they are kept. Only operator new
///          uses them.
/// Failure: none; restore() returns whether the memory is there.
class MemoryReserve {
  public:
    static constexpr std::size_t work_bytes = 1024 * 1024;  // what most responses take
    static constexpr std::size_t unwind_bytes = 256 * 1024;

    MemoryReserve() = default;
    ~MemoryReserve();
    MemoryReserve(const MemoryReserve&) = delete;
    MemoryReserve& operator=(const MemoryReserve&) = delete;

    /// To be called before each piece of work.
    [[nodiscard]] bool restore() noexcept;

    /// While it lives, allocations of this thread that fail use the reserve.
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
        /// Whether there was any.
        bool release(std::size_t bytes) noexcept;

      private:
        void* memory_ = nullptr;
    };

    static void on_failure();

    Mapping work_;
    Mapping unwind_;
};

}  // namespace telegate
