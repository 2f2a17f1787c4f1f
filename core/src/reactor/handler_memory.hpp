#pragma once

#include <cstddef>
#include <new>

namespace telegate {

/// Memory for one pending operation of the event loop, so that repeated waits allocate nothing. A second operation at
/// the same time, or a large one, is allocated separately.
///
/// Threads: one, or any while no event loop runs. Limits: room_bytes. Failure: allocate() may throw std::bad_alloc.
class HandlerMemory {
  public:
    HandlerMemory() = default;
    HandlerMemory(const HandlerMemory&) = delete;
    HandlerMemory& operator=(const HandlerMemory&) = delete;

    [[nodiscard]] void* allocate(std::size_t bytes) {
        if (in_use_ || bytes > room_bytes) {
            return ::operator new(bytes);
        }
        in_use_ = true;
        return room_;
    }
    void deallocate(void* memory) noexcept {
        if (memory == room_) {
            in_use_ = false;
        } else {
            ::operator delete(memory);
        }
    }

  private:
    static constexpr std::size_t room_bytes = 160;

    alignas(std::max_align_t) std::byte room_[room_bytes];
    bool in_use_ = false;
};

/// HandlerMemory as the allocator that Asio requests from a handler. The handler must keep the owner of the memory
/// alive: Asio releases the memory before it calls or destroys the last copy of the handler.
/// Threads, Limits, Failure: as HandlerMemory.
template <class T>
class HandlerAllocator {
  public:
    using value_type = T;

    explicit HandlerAllocator(HandlerMemory& memory) noexcept : memory_(&memory) {}
    template <class U>
    explicit HandlerAllocator(const HandlerAllocator<U>& other) noexcept : memory_(other.memory_) {}

    [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(memory_->allocate(count * sizeof(T))); }
    void deallocate(T* memory, std::size_t /*count*/) noexcept { memory_->deallocate(memory); }

    template <class U>
    [[nodiscard]] bool operator==(const HandlerAllocator<U>& other) const noexcept {
        return memory_ == other.memory_;
    }

  private:
    template <class U>
    friend class HandlerAllocator;

    HandlerMemory* memory_;
};

/// A handler that calls `call` and is stored in the given memory.
/// Threads, Limits, Failure: as HandlerMemory.
template <class Call>
struct HandlerIn {
    using allocator_type = HandlerAllocator<std::byte>;

    HandlerMemory* memory;
    Call call;

    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(*memory); }
    template <class... Arguments>
    void operator()(Arguments&&... arguments) {
        call(arguments...);
    }
};

template <class Call>
HandlerIn(HandlerMemory*, Call) -> HandlerIn<Call>;

}  // namespace telegate
