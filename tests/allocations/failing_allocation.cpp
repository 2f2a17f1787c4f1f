#include "failing_allocation.hpp"

#include <atomic>

namespace telegate::test {
namespace {

// For threads that are not spared. Allocations from first_failure up to failures_end fail. If failures_end is 0, none
// fails and none is counted.
std::atomic<std::uint64_t> counted_calls{0};
std::atomic<std::uint64_t> first_failure{0};
std::atomic<std::uint64_t> failures_end{0};
constinit thread_local bool is_spared = false;

}  // namespace

SparedThread::SparedThread() noexcept {
    is_spared = true;
}

SparedThread::~SparedThread() {
    is_spared = false;
}

FailingAllocation::FailingAllocation(std::uint64_t number, std::uint64_t failures) noexcept {
    counted_calls = 0;
    first_failure = number;
    failures_end = number + failures;
}

FailingAllocation::~FailingAllocation() {
    failures_end = 0;
}

bool FailingAllocation::has_failed() const noexcept {
    return counted_calls >= first_failure;
}

bool allocation_fails() noexcept {
    if (is_spared || failures_end.load(std::memory_order_relaxed) == 0) {
        return false;
    }
    const std::uint64_t call = counted_calls.fetch_add(1) + 1;
    return call >= first_failure && call < failures_end;
}

}  // namespace telegate::test
