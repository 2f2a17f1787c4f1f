#pragma once

#include "core/reactor.hpp"

#include <chrono>
#include <functional>

namespace telegate {

/// Runs `call` on the reactor's thread and waits until it returns; rethrows its exceptions. Returns false if the thread
/// did not start the call within `time`; it then never runs.
/// Threads: any but the reactor's. Limits: waits for `time` plus the duration of the call. Failure: throws like the
/// call.
[[nodiscard]] bool call_on_reactor(Reactor& reactor, std::function<void()> call, std::chrono::milliseconds time);

}  // namespace telegate
