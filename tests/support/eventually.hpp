#pragma once

#include <poll.h>

#include <chrono>

namespace telegate::test {

/// How long a test waits for what takes no time, on a machine that is busy with much else.
inline constexpr std::chrono::seconds long_enough{60};

/// Polls until `condition` holds or the deadline passes. Returns whether it held.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition, std::chrono::milliseconds deadline = long_enough) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= end) {
            return false;
        }
        ::poll(nullptr, 0, 1);  // gives the processor to whoever makes the condition true
    }
    return true;
}

}  // namespace telegate::test
