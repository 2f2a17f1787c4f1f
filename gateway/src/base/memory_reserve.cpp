#include "base/memory_reserve.hpp"

#include <sys/mman.h>

#include <new>
#include <utility>

namespace telegate {
namespace {

constinit thread_local MemoryReserve* reserve_in_use = nullptr;

}  // namespace

MemoryReserve::~MemoryReserve() {
    work_.release(work_bytes);
    unwind_.release(unwind_bytes);
}

bool MemoryReserve::restore() noexcept {
    return unwind_.restore(unwind_bytes) && work_.restore(work_bytes);
}

/// The new-handler; operator new retries after it returns.
void MemoryReserve::on_failure() {
    if (reserve_in_use != nullptr && reserve_in_use->work_.release(work_bytes)) {
        return;
    }
    if (reserve_in_use != nullptr) {
        reserve_in_use->unwind_.release(unwind_bytes);
    }
    throw std::bad_alloc();
}

MemoryReserve::Use::Use(MemoryReserve& reserve) noexcept {
    reserve_in_use = &reserve;
    std::set_new_handler(on_failure);
}

MemoryReserve::Use::~Use() {
    reserve_in_use = nullptr;
}

bool MemoryReserve::Mapping::restore(std::size_t bytes) noexcept {
    if (memory_ == nullptr) {
        void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memory_ = memory == MAP_FAILED ? nullptr : memory;
    }
    return memory_ != nullptr;
}

bool MemoryReserve::Mapping::release(std::size_t bytes) noexcept {
    if (memory_ == nullptr) {
        return false;
    }
    ::munmap(std::exchange(memory_, nullptr), bytes);
    return true;
}

}  // namespace telegate
