#pragma once

#include <new>

namespace telegate {

/// Does what operator new does without memory: calls the new-handler, or throws std::bad_alloc. For memory that comes
/// from other functions. Threads: any.
[[noreturn]] inline void out_of_memory() {
    if (const std::new_handler handler = std::get_new_handler()) {
        handler();
    }
    throw std::bad_alloc();
}

/// Prints the failed expression and its location, then aborts. Threads: any.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace telegate

/// Aborts if `expression` is false, which only a bug in Telegate can cause. Enabled in every build: the gateway stops
/// rather than publish wrong data.
#define TELEGATE_ASSERT(expression) \
    ((expression) ? static_cast<void>(0) : ::telegate::assertion_failed(#expression, __FILE__, __LINE__))
