#pragma once

#include "core/reactor.hpp"

#include <exception>
#include <utility>

namespace telegate {

/// Calls `call` from code that must run to completion. If `call` throws, the exception is rethrown later, from a
/// separate handler of the reactor, so the caller is not interrupted.
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
