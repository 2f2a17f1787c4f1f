#include "core/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace telegate {

void assertion_failed(const char* expression, const char* file, int line) noexcept {
    std::fprintf(stderr, "telegate: assertion failed: %s at %s:%d\n", expression, file, line);
    std::abort();
}

}  // namespace telegate
