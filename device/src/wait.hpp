#pragma once

#include "core/clock.hpp"
#include "device/cancel_signal.hpp"

#include <cstdint>

namespace telegate {

enum class Woken : std::uint8_t { ready, timed_out, canceled };

struct WaitResult {
    Woken woken = Woken::timed_out;
    short events = 0;  // with `ready`: the events of poll(), including errors and hang-ups
};

/// Waits for `events` of the descriptor, or for the signal, which takes precedence. A descriptor of -1 is ignored;
/// `cancel` may be null. Threads: any.
[[nodiscard]] WaitResult wait_for(int descriptor, short events, const CancelSignal* cancel, MonoTime until) noexcept;

}  // namespace telegate
