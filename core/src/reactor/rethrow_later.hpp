#pragma once

#include "core/reactor.hpp"

#include <exception>
#include <utility>

namespace telegate {

/// Makes a call within work that must be completed. An exception of the call leaves the reactor from a later handler of
/// its own, so that it interrupts only the call.
///
/// Threads: the reactor's. Limits: one posted handler for each exception. Failure: std::bad_alloc if posting fails.
template <class Call>
void rethrow_later(Reactor& reactor, Call&& call) {
    try {
        std::forward<Call>(call)();
    } catch (...) {
        reactor.post([failure = std::current_exception()] { std::rethrow_exception(failure); });
    }
}

}  // namespace telegate
