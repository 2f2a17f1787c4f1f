#pragma once

#include <poll.h>

#include <chrono>

namespace telegate::test {

/// Time limit for operations that are normally immediate, on a heavily loaded machine.
inline constexpr std::chrono::seconds long_enough{60};

/// Polls until `condition` holds or the deadline passes. Returns whether it held.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition, std::chrono::milliseconds deadline = long_enough) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= end) {
            return false;
        }
        ::poll(nullptr, 0, 1);  // lets other threads run
    }
    return true;
}

}  // namespace telegate::test
