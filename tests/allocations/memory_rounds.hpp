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

/// Does something again and again, while the first allocation fails of the threads that are not spared, and `failures`
/// in all from there on; then from the second on, and so on, until there is none that could. After each time looks
/// whether it works with memory, and whether descriptors are left over.
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
