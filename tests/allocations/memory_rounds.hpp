#pragma once

#include "failing_allocation.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>

namespace telegate::test {

inline std::ptrdiff_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
}

/// Calls `attempt` repeatedly while allocations fail on the threads that are not spared: first the first allocation and
/// those that follow it, `failures` in total, then from the second on, and so on, until none fails. After each attempt,
/// checks with `works` that everything works with memory, and that no descriptors are left open.
template <class Attempt, class Works>
void fail_each_allocation(std::uint64_t failures, const Attempt& attempt, const Works& works) {
    works();
    const std::ptrdiff_t descriptors = open_descriptors();
    bool has_failed = true;
    for (std::uint64_t number = 1; has_failed; ++number) {
        CAPTURE(number);
        {
            const FailingAllocation failing(number, failures);
            attempt();
            has_failed = failing.has_failed();
        }
        works();
        REQUIRE(eventually([&] { return open_descriptors() <= descriptors; }));
    }
}

}  // namespace telegate::test
