#pragma once

namespace telegate {

/// Prints the failed expression and its location, then aborts. Threads: any.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace telegate

/// Aborts if `expression` is false, which only a bug in Telegate can cause. Enabled in every build: the gateway stops
/// rather than publish wrong data.
#define TELEGATE_ASSERT(expression) \
    ((expression) ? static_cast<void>(0) : ::telegate::assertion_failed(#expression, __FILE__, __LINE__))
