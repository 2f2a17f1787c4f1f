#include "core/start_thread.hpp"
#include "support/catch.hpp"

#include <sys/resource.h>

#include <algorithm>

using namespace telegate;

TEST_CASE("a thread that lowers its priority has a nice value ten higher, and other threads keep theirs",
          "[core][start_thread]") {
    const int before = ::getpriority(PRIO_PROCESS, 0);
    int lowered = 0;
    start_thread("test", [&] {
        lower_priority();
        lowered = ::getpriority(PRIO_PROCESS, 0);
    }).join();
    CHECK(lowered == std::min(before + 10, 19));
    CHECK(::getpriority(PRIO_PROCESS, 0) == before);
}
