#pragma once

#include <atomic>

namespace telegate {

// Two fences that order memory as two sequentially consistent ones do, where one side pays nothing.
//
// One side writes A and then looks at B, the other writes B and then looks at A, and at least one of them must see the
// other. Each needs a fence between its two steps. The side that goes there often uses light_fence(), which only keeps
// the compiler from changing the order. The side that goes there seldom uses heavy_fence(), which has the system run a
// full fence on every processor that runs a thread of this process. Wherever that meets the light side, either the
// light side's write came before it and is seen after heavy_fence(), or its look comes after it and sees what the
// heavy side has written. Where the system has no such call, both are full fences.
//
// Threads: any. Limits: heavy_fence() takes microseconds. Failure: none; a system that offered the call keeps it.

/// Whether heavy_fence() fences for both sides. False until the program's own objects are made, which is safe.
extern const bool heavy_fence_reaches_all;

/// A fence in this thread alone, also for those who see no fences.
void full_fence() noexcept;

inline void light_fence() noexcept {
    if (heavy_fence_reaches_all) [[likely]] {
        std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
        full_fence();
    }
}

void heavy_fence() noexcept;

}  // namespace telegate
