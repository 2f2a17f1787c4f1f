#pragma once

namespace telegate {

/// Prints what did not hold and where, then aborts. Threads: any.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace telegate

/// States what only a mistake of ours can break. On in every build: the gateway stops rather than publish lies.
#define TELEGATE_ASSERT(expression) \
    ((expression) ? static_cast<void>(0) : ::telegate::assertion_failed(#expression, __FILE__, __LINE__))
