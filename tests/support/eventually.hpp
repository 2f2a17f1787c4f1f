#pragma once

#include <poll.h>

#include <chrono>

namespace telegate::test {

/// Polls until `condition` holds or the deadline passes. Returns whether it held.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds deadline = std::chrono::seconds(10)) {
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
