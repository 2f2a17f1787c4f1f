#pragma once

#include "core/clock.hpp"
#include "device/cancel_signal.hpp"

#include <cstdint>
#include <string>

namespace telegate::network {

enum class Woken : std::uint8_t { ready, timed_out, cancelled };

struct WaitResult {
    Woken woken = Woken::timed_out;
    short events = 0;  // with ready: what poll() says, errors and hang-ups included
};

/// Waits for `events` of the descriptor, or for the signal, which goes first; a descriptor of -1 is not waited for.
[[nodiscard]] WaitResult wait_for(int descriptor, short events, const CancelSignal* cancel, MonoTime until) noexcept;

/// "Connection refused", ...
[[nodiscard]] std::string error_words(int error);

}  // namespace telegate::network
