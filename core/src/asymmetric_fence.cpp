#include "core/asymmetric_fence.hpp"

#include "core/assert.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

// TSan sees no fences, only what is done to atomic objects.
#if defined(__SANITIZE_THREAD__)
#define TELEGATE_SEES_FENCES false
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TELEGATE_SEES_FENCES false
#endif
#endif
#ifndef TELEGATE_SEES_FENCES
#define TELEGATE_SEES_FENCES true
#endif

namespace telegate {

namespace {

bool membarrier(int command) noexcept {
    return ::syscall(SYS_membarrier, command, 0U, 0) == 0;
}

}  // namespace

const bool heavy_fence_reaches_all = TELEGATE_SEES_FENCES && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);

void full_fence() noexcept {
    if constexpr (TELEGATE_SEES_FENCES) {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    } else {
        // Whoever changes it later has seen all that was done before by who changed it earlier.
        static std::atomic<unsigned> turns{0};
        turns.fetch_add(1, std::memory_order_seq_cst);
    }
}

void heavy_fence() noexcept {
    if (!heavy_fence_reaches_all) {
        return full_fence();
    }
    TELEGATE_ASSERT(membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}

}  // namespace telegate
