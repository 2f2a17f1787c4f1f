#pragma once

#include "core/reactor.hpp"

#include <chrono>
#include <functional>

namespace telegate {

/// Makes a call on the reactor's thread and waits for its end; passes on what it throws. False: the thread did not come
/// to it within `time`, and will not make it later.
/// Threads: any but the reactor's. Limits: waits for the time and the call. Failure: as the call.
[[nodiscard]] bool call_on_reactor(Reactor& reactor, std::function<void()> call, std::chrono::milliseconds time);

}  // namespace telegate
